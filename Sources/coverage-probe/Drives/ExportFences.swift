import ArgumentParser
import Coverage
import Export
import Foundation
import Service

extension ExportFormat: ExpressibleByArgument {}

extension FenceShape: ExpressibleByArgument {}

extension ExportSelection: ExpressibleByArgument {}

struct ExportFences: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Writes fences, or speed tests, as maps and tables.",
    discussion: "Fences must meet all conditions. An option that can be repeated selects what one of its values names.")

  @OptionGroup var configuration: ConfigurationOptions

  @Option(
    name: .long,
    help: """
      geojson, geojsonseq, jsonl, csv, gpx, kml, gpkg, or html for a page with a map. Default: what the name of the output file says, \
      or else geojson.
      """)
  var format: ExportFormat?

  @Option(
    name: .long, help: "point or circle: a fence's centre, or its circle on the ground (geojson, geojsonseq, kml).")
  var shape: FenceShape?

  @Option(
    name: .long, help: "A base map for those who are online (html): https://HOST/{z}/{x}/{y}.png. Default: none.",
    transform: tiles)
  var tiles: TileSource?

  @Option(
    name: .long,
    help: "Your own base map (html): a PMTiles or MBTiles file, whose tiles around the fences go into the page.",
    completion: .file(extensions: ["pmtiles", "mbtiles"]))
  var basemap: String?

  @Option(
    name: .long,
    help: """
      settled (submitted or kept), submitted, kept (of drives to pings.target), pending or all; only `all` includes fences that Wi-Fi touched or that \
      could not be measured.
      """)
  var state = ExportSelection.settled

  @Flag(
    name: .long, help: "Speed tests instead of fences; jsonl has their curves, html has tests and fences without it.")
  var speedTests = false

  @OptionGroup var filter: FilterOptions

  @Option(
    name: .long,
    help: """
      Write what the export rests on (program, store, filters, settings, drive logs with SHA-256) as JSON to this file. Default: within \
      the export; for csv, jsonl and geojsonseq, which have no place for it, NAME.provenance.json beside the file NAME.
      """, completion: .file())
  var provenance: String?

  @Option(
    name: [.short, .long], help: "The file to write, a device or a pipe. Default, and -: standard output.",
    completion: .file())
  var output: String?

  /// The format that was asked for, or that the name of the output file says.
  private func chosenFormat() throws -> ExportFormat {
    if let format { return format }
    guard let ending = OutputFile.ending(of: output) else { return .geojson }
    if let format = ExportFormat(ending: ending) { return format }
    let endings = ExportFormat.allCases.map { "." + $0.endings[0] }.joined(separator: ", ")
    throw ValidationError(
      "-o: no format has files named .\(ending): use one of \(endings), or name the format with --format.")
  }

  mutating func validate() throws {
    let format = try chosenFormat()
    if let provenance, provenance == "-" || provenance == output {
      throw ValidationError("--provenance: name a file of its own; standard output is for the export.")
    }
    if speedTests {
      guard !format.hasSpeedTests else {
        let formats = ExportFormat.ofSpeedTests.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--speed-tests is for \(formats); \(format.rawValue) has the tests beside the fences.")
      }
      guard shape == nil, filter.session.isEmpty else {
        throw ValidationError("--speed-tests goes with neither --shape nor --session: a test is a point of no session.")
      }
    }
    if shape != nil, !format.hasShapes {
      let formats = ExportFormat.allCases.filter(\.hasShapes).map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--shape is for \(formats); \(format.rawValue) has one form only.")
    }
    for (option, isGiven) in [("--tiles", tiles != nil), ("--basemap", basemap != nil)] where isGiven && format != .html
    {
      throw ValidationError("\(option) is for html; \(format.rawValue) has no base map.")
    }
    if basemap != nil, tiles != nil {
      throw ValidationError("use --basemap, a file, or --tiles, a server: the page has one base map.")
    }
    if format == .gpkg, isStandardOutput, isatty(STDOUT_FILENO) == 1 {
      throw ValidationError("gpkg is a file for programs, not for a terminal: name it with -o.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      let format = try chosenFormat()
      if speedTests { return try exportSpeedTests() }
      let exporting = try Exporting(
        configuration: try configuration.load(), selection: state, sessions: Set(filter.session),
        filter: filter.filter)
      // Before the result is begun.
      let map = MapOptions(tiles: tiles, basemap: try basemap.map(Basemap.init(path:)))
      let sink = try ExportFile(output, provenance: provenance, isBeside: !format.hasProvenance)
      let progress = WorkProgress("export", isShown: !OutputFile.isTerminal(output))
      defer { progress.clear() }
      let count = try exporting.run(
        format: format, shape: shape ?? .point, scratch: scratch, map: map, beside: sink.beside,
        progress: progress, complain: Terminal.note, write: sink.write)
      try sink.finish()
      progress.end(counted(count.written, "fence"))
      if let hint = hint(count) { Terminal.note(hint) }
      if filter.filter.to != nil, count.open > 0 {
        let open = counted(count.open, "fence of this range has", "fences of this range have")
        Terminal.note("\(open) not ended yet: export the range again later")
      }
      return .done
    }
  }

  private func exportSpeedTests() throws -> CommandOutcome {
    let format = try chosenFormat()
    let exporting = try SpeedTestExporting(
      configuration: try configuration.load(), selection: state, filter: filter.filter)
    let sink = try ExportFile(output, provenance: provenance, isBeside: !format.hasProvenance)
    try exporting.run(format: format, scratch: scratch, beside: sink.beside, write: sink.write)
    try sink.finish()
    if format.needsPlaces, exporting.withoutPlace > 0 {
      let tests = counted(exporting.withoutPlace, "speed test")
      Terminal.note("left out \(tests) without a position: \(format.rawValue) has places only; csv has all")
    }
    if exporting.count == 0, exporting.ofOtherState > 0 {
      Terminal.note(Self.noSpeedTest(state, others: exporting.ofOtherState))
    }
    return .done
  }

  /// - Parameter others: The tests that meet all conditions but the state.
  private static func noSpeedTest(_ state: ExportSelection, others: Int) -> String {
    "no speed test is \(state.rawValue); \(others) stored in other states: see --state"
  }

  private static func tiles(_ text: String) throws -> TileSource {
    guard let tiles = TileSource(text) else {
      throw ValidationError("expected the address of a tile: https://HOST/{z}/{x}/{y}.png")
    }
    return tiles
  }

  private var isStandardOutput: Bool { output == nil || output == "-" }

  /// The folder of the result has room for it, or the result has no place either.
  private var scratch: String? {
    guard let output, !isStandardOutput, !output.hasPrefix("/dev/"), !output.hasPrefix("/proc/") else { return nil }
    let folder = URL(fileURLWithPath: output).deletingLastPathComponent().path
    return access(folder, W_OK) == 0 ? folder : nil
  }

  /// Why nothing was written, or no speed test.
  private func hint(_ count: Exporting.Count) -> String? {
    guard count.written == 0 else {
      guard count.speedTests == 0, count.speedTestsOfOtherState > 0 else { return nil }
      return Self.noSpeedTest(state, others: count.speedTestsOfOtherState)
    }
    if count.ofOtherState > 0 {
      let others = counted(count.ofOtherState, "other is", "others are")
      return "no fence is \(state.rawValue); \(others) stored: see --state"
    }
    guard count.filteredOut > 0 else { return nil }
    return "no fence meets the conditions; \(counted(count.filteredOut, "other is", "others are")) stored"
  }
}
