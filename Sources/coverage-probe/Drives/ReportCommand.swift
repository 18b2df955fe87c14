import ArgumentParser
import Coverage
import Export
import Foundation
import Service
import Settings

struct ReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Writes a report on stored drives: a page of HTML with charts, or JSON.",
    discussion: """
      With a --with option, two selections are compared place by place: the second one has the conditions of the first, except those that \
      a --with option replaces. Examples: --link A --with-link B; --session 1 --with-session 2. \
      Exit status of --verify: 0 when the drive logs give all fences and figures again; 1 when one differs, or a log is missing or damaged; \
      66 when store, settings or --areas cannot be read.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Option(
    name: .long,
    help: """
      settled (submitted or kept), submitted, kept (of drives to pings.target), pending or all; only `all` includes fences that Wi-Fi \
      touched.
      """)
  var state = ExportSelection.all

  @OptionGroup var filter: FilterOptions

  @OptionGroup var second: SecondOptions

  @Option(
    name: .long,
    help: """
      A GeoJSON file with Polygons or MultiPolygons, for a table by area: city, road, rail. Its property `category`, or else `name`, is \
      the name.
      """, completion: .file(extensions: ["geojson", "json"]))
  var areas: String?

  @Option(
    name: .long, help: "Your own base map below the maps of the page: a PMTiles or MBTiles file.",
    completion: .file(extensions: ["pmtiles", "mbtiles"]))
  var basemap: String?

  @Option(name: .long, help: "Who makes the report, for its title: \"NAME, OFFICE\".")
  var author: String?

  @OptionGroup var least: LeastOptions

  @Flag(
    name: .long,
    help: "Write no report: compute its fences and figures again from the drive logs, and print each that differs.")
  var verify = false

  @Flag(name: .long, help: "Write JSON, as -o NAME.json does.")
  var json = false

  @Option(
    name: [.short, .long], help: "The file to write, a device or a pipe. Default, and -: standard output.",
    completion: .file())
  var output: String?

  /// Whether JSON is wanted, by the option or by the name of the output file.
  private func isJSON() throws -> Bool {
    if json { return true }
    switch OutputFile.ending(of: output) {
    case nil, "html", "htm": return false
    case "json": return true
    case "pdf":
      throw ValidationError(
        """
        -o: a report is a page that a browser prints: write it with -o report.html, open it and print it to a PDF, or run \
        chromium --headless --print-to-pdf=report.pdf report.html
        """)
    case let ending?: throw ValidationError("-o: no report is named .\(ending): use .html, or .json for programs.")
    }
  }

  mutating func validate() throws {
    let isJSON = try isJSON()
    if verify, json || output != nil || basemap != nil {
      throw ValidationError("--verify prints its result and writes no report: leave out -o, --json and --basemap.")
    }
    if isJSON, basemap != nil { throw ValidationError("--basemap is for the page; JSON has no map.") }
    let second = second.conditions(filter.filter)
    if let from = second.from, let to = second.to, from >= to {
      throw ValidationError("the second selection ends before it begins: give both --with-from and --with-to.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      if verify { return try verified() }
      let isJSON = try isJSON()
      let reporting = try reporting()
      // Before the result is begun.
      let ground = try basemap.map { SketchGround(try Basemap(path: $0)) }
      let sink = try OutputFile(path: output)
      if let warning = sink.warning { Terminal.note(warning) }
      let progress = WorkProgress("report", isShown: !OutputFile.isTerminal(output))
      defer { progress.clear() }
      let report = try reporting.run(progress: progress, complain: Terminal.note)
      try sink.write(Array((isJSON ? report.json.text + "\n" : ReportPage(report, over: ground).html).utf8))
      try sink.finish()
      progress.end()
      ground?.complaints.forEach(Terminal.note)
      for part in report.parts where part.isEmpty {
        Terminal.note("no fence meets the conditions: \(part.title)")
      }
      return .done
    }
  }

  /// The exit status of a verification that could not be done (EX_NOINPUT of sysexits.h): 1 says that something differs.
  static let notVerified: Int32 = 66

  /// Prints what differs between the store and the drive logs.
  private func verified() throws -> CommandOutcome {
    let progress = WorkProgress("report --verify")
    defer { progress.clear() }
    do {
      let verification = try ReportVerification(try reporting(), progress: progress) { line in
        progress.clear()
        Terminal.result(line)
      }
      progress.end()
      return verification.agrees ? .done : .failed
    } catch {
      if error is ExitCode || error is ValidationError { throw error }
      Terminal.complain(error)
      throw ExitCode(Self.notVerified)
    }
  }

  private func reporting() throws -> Reporting {
    let configuration = try configuration.load()
    var options = Reporting.Options()
    (options.placeMetres, options.least) = (second.place, least.differences(configuration.report))
    options.areas = try areas.map { try AreaList(geoJSON: InputFile.contents($0, limit: 1 << 26), path: $0) }
    let gpsd = configuration.gpsd.device.map { "gpsd device \(ForeignText.clean($0))" }
    options.origin = Report.Origin(
      made: .current, author: author.map { ForeignText.clean($0) },
      server: configuration.controlServer.url.flatMap { URL(string: $0)?.host() }, receiver: gpsd)
    return try Reporting(configuration: configuration, choices: choices, options: options)
  }

  /// The selection, and the one to compare it with if there is a --with option.
  private var choices: [Reporting.Choice] {
    let first = choice(sessions: filter.session, filter: filter.filter)
    guard second.isChosen else { return [first] }
    return [
      first, choice(sessions: second.sessions(filter.session), filter: second.conditions(filter.filter)),
    ]
  }

  private func choice(sessions: [Int64], filter: FenceFilter) -> Reporting.Choice {
    var words: [String] = []
    if !sessions.isEmpty { words.append("session " + sessions.map(String.init).joined(separator: ", ")) }
    if !filter.links.isEmpty { words.append("link " + filter.links.sorted().joined(separator: ", ")) }
    if let from = filter.from { words.append("from " + from.iso8601) }
    // A bound in the future says nothing of stored fences.
    if let to = filter.to, to < WallTime.current { words.append("before " + to.iso8601) }
    if filter.box != nil { words.append("in a box") }
    if !filter.technologies.isEmpty { words.append("on chosen technologies") }
    if state != .all { words.append("\(state.rawValue) fences") }
    return Reporting.Choice(
      title: words.isEmpty ? "All stored drives" : words.joined(separator: ", "), state: state,
      sessions: Set(sessions), filter: filter)
  }
}
