import Agent
import ArgumentParser
import Export
import Foundation

struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Cuts a recorded drive into fences again.",
    discussion: "Uses the parameters that the drive was recorded with, unless --config or an option gives others.")

  @Argument(help: "A drive log.")
  var drive: String

  @OptionGroup var configuration: ConfigurationOptions

  @Option(name: .long, help: "jsonl or geojson.")
  var format = ExportFormat.jsonl

  @Option(name: .long, help: "The least radius of a fence, in metres.")
  var minimumRadius: Double?

  @Option(name: .long, help: "The worst accuracy, in metres, that counts.")
  var accuracyLimit: Double?

  mutating func validate() throws {
    for (name, value) in [("--minimum-radius", minimumRadius), ("--accuracy-limit", accuracyLimit)] {
      if let value, !(value > 0 && value.isFinite) {
        throw ValidationError("\(name) is \(value): expected metres, above 0.")
      }
    }
  }

  func run() async throws {
    try await Terminal.run {
      let settings = configuration.config == nil ? nil : try await configuration.load()
      let replaying = try Replaying(
        path: drive, configuration: settings, minimumRadius: minimumRadius, accuracyLimit: accuracyLimit)
      for complaint in replaying.complaints { Terminal.note("\(drive): \(complaint)") }
      let sink = try OutputFile(path: nil)
      try replaying.run(format: format, write: sink.write)
      return .done
    }
  }
}
