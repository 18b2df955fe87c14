import Agent
import ArgumentParser
import Coverage
import Export
import Foundation
import Settings

struct Submit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Submits the stored sessions.")

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "Skip sessions that an earlier run left unfinished.")
  var warm = false

  @Flag(name: .long, help: "Also send sessions that the server has refused.")
  var quarantined = false

  @Flag(name: .long, help: "Try now, even if the server has asked for fewer requests.")
  var force = false

  mutating func validate() throws {
    if warm, quarantined { throw ValidationError("--warm and --quarantined exclude each other.") }
  }

  func run() async throws {
    try await Terminal.run {
      let stop = await Terminal.stopSignals()
      let submitting = Submitting(
        configuration: try configuration.load(), isWarm: warm, includesQuarantined: quarantined,
        isForced: force, logger: Terminal.logger())
      let began = ContinuousClock.now
      return try await Terminal.answeringQuit({ "submitting for \((ContinuousClock.now - began).components.seconds) s" }
      ) {
        try await submitting.run(stop: stop, print: Terminal.result)
      }
    }
  }
}

struct Sessions: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the stored sessions with state and counts.", subcommands: [Forget.self])

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "As a JSON array, oldest first.")
  var json = false

  func run() async throws {
    try await Terminal.run {
      let listing = try SessionListing(configuration: try configuration.load())
      Terminal.result(json ? listing.json : listing.table)
      return .done
    }
  }
}

struct Forget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Deletes a session with its fences permanently, sent or not.",
    discussion: "The last session of a drive takes the drive log with it. The server keeps fences that were sent.")

  @OptionGroup var configuration: ConfigurationOptions

  @Argument(help: "The id of the session, as `sessions` lists it.")
  var id: Int64

  func run() async throws {
    try await Terminal.run {
      let forgetting = Forgetting(
        configuration: try configuration.load(), session: id, logger: Terminal.logger())
      return try await forgetting.run(print: Terminal.result)
    }
  }
}

extension ExportFormat: ExpressibleByArgument {}
extension Exporting.Selection: ExpressibleByArgument {}

struct ExportFences: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "export", abstract: "Writes fences as maps and tables.")

  @OptionGroup var configuration: ConfigurationOptions

  @Option(name: .long, help: "geojson, jsonl, or html for a page with a map.")
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
