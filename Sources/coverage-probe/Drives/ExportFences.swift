import Agent
import ArgumentParser
import Coverage
import Export

extension ExportFormat: ExpressibleByArgument {}

extension Exporting.Selection: ExpressibleByArgument {}

struct ExportFences: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "export", abstract: "Writes fences as maps and tables.")

  @OptionGroup var configuration: ConfigurationOptions

  @Option(name: .long, help: "geojson, geojsonseq, jsonl, or html for a page with a map.")
  var format = ExportFormat.geojson

  @Option(name: .long, help: "submitted, pending or all; only `all` includes fences that Wi-Fi touched.")
  var state = Exporting.Selection.submitted

  @Option(name: .long, parsing: .unconditional, help: "Only the session with this id.")
  var session: Int64?

  @Option(name: [.short, .long], help: "The file to write, a device or a pipe. Default, and -: standard output.")
  var output: String?

  func run() async throws {
    try await Terminal.run {
      let exporting = try Exporting(configuration: try configuration.load(), selection: state, session: session)
      let sink = try OutputFile(path: output)
      if let warning = sink.warning { Terminal.note(warning) }
      let (written, left) = try exporting.run(format: format, write: sink.write)
      try sink.finish()
      if written == 0, left > 0 {
        Terminal.note("no fence is \(state.rawValue); \(counted(left, "other is", "others are")) stored: see --state")
      }
      return .done
    }
  }
}
