import ArgumentParser
import Coverage
import Export
import Foundation
import Service

struct ReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Writes a report on stored drives: two pages of HTML, or JSON.",
    discussion: """
      With a --with option, two selections are compared place by place: the second one has the conditions of the first, except those that \
      a --with option replaces. Examples: --link A --with-link B; --session 1 --with-session 2.
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

  @Option(
    name: .long, parsing: .unconditionalSingleValue, help: "Compare with the session with this id; can be repeated.")
  var withSession: [Int64] = []

  @Option(name: .long, help: "Compare with the link with this name; can be repeated.")
  var withLink: [String] = []

  @Option(name: .long, help: "Compare with fences that began at this time or later.", transform: FilterOptions.time)
  var withFrom: WallTime?

  @Option(name: .long, help: "Compare with fences that began before this time.", transform: FilterOptions.time)
  var withTo: WallTime?

  @Option(name: .long, help: "The size of a place in metres for the comparison, 10 to 10000.")
  var place = 50.0

  @OptionGroup var least: LeastOptions

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
    _ = try isJSON()
    guard (10...10_000).contains(place) else { throw ValidationError("--place: expected 10 to 10000 metres.") }
    if let from = second.from, let to = second.to, from >= to {
      throw ValidationError("the second selection ends before it begins: give both --with-from and --with-to.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      let isJSON = try isJSON()
      let loaded = try configuration.load()
      let reporting = try Reporting(
        configuration: loaded, choices: choices, placeMetres: place, least: least.differences(loaded.report))
      let sink = try OutputFile(path: output)
      if let warning = sink.warning { Terminal.note(warning) }
      let progress = WorkProgress("report", isShown: !OutputFile.isTerminal(output))
      defer { progress.clear() }
      let report = try reporting.run(progress: progress, complain: Terminal.note)
      try sink.write(Array((isJSON ? report.json.text + "\n" : ReportPage(report).html).utf8))
      try sink.finish()
      progress.end()
      for part in report.parts where part.isEmpty {
        Terminal.note("no fence meets the conditions: \(part.title)")
      }
      return .done
    }
  }

  /// The selection, and the one to compare it with if there is a --with option.
  private var choices: [Reporting.Choice] {
    let first = choice(sessions: filter.session, filter: filter.filter)
    guard !withSession.isEmpty || !withLink.isEmpty || withFrom != nil || withTo != nil else { return [first] }
    return [first, choice(sessions: withSession.isEmpty ? filter.session : withSession, filter: second)]
  }

  /// The conditions of the first selection, but for those that a --with option replaces.
  private var second: FenceFilter {
    var second = filter.filter
    if !withLink.isEmpty { second.links = Set(withLink) }
    (second.from, second.to) = (withFrom ?? second.from, withTo ?? second.to)
    return second
  }

  private func choice(sessions: [Int64], filter: FenceFilter) -> Reporting.Choice {
    var words: [String] = []
    if !sessions.isEmpty { words.append("session " + sessions.map(String.init).joined(separator: ", ")) }
    if !filter.links.isEmpty { words.append("link " + filter.links.sorted().joined(separator: ", ")) }
    if let from = filter.from { words.append("from " + from.iso8601) }
    if let to = filter.to { words.append("before " + to.iso8601) }
    if filter.box != nil { words.append("in a box") }
    if !filter.technologies.isEmpty { words.append("on chosen technologies") }
    if state != .all { words.append("\(state.rawValue) fences") }
    return Reporting.Choice(
      title: words.isEmpty ? "All stored drives" : words.joined(separator: ", "), state: state,
      sessions: Set(sessions), filter: filter)
  }
}
