import ArgumentParser
import Export
import Foundation
import Service

struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Cuts a recorded drive into fences again.",
    discussion:
      "Uses the parameters of the recording, unless an option, the environment or --config sets other ones."
  )

  @Argument(help: "A drive log.", completion: .file(extensions: ["jsonl"]))
  var drive: String

  @OptionGroup var configuration: ConfigurationOptions

  @Option(name: .long, help: "jsonl, geojson, geojsonseq, or html for a page with a map.")
  var format = ExportFormat.jsonl

  @Option(name: .long, parsing: .unconditional, help: "The least radius of a fence, in metres.")
  var minimumRadius: Double?

  @Option(name: .long, parsing: .unconditional, help: "The worst accuracy of a position that counts, in metres.")
  var accuracyLimit: Double?

  mutating func validate() throws {
    if !format.hasReplays {
      throw ValidationError("\(format.rawValue) is for stored fences: see coverage-probe export.")
    }
    for (name, value) in [("--minimum-radius", minimumRadius), ("--accuracy-limit", accuracyLimit)] {
      if let value, !(value > 0 && value <= 10_000) {
        throw ValidationError("\(name) is \(value): expected metres, above 0, at most 10000.")
      }
    }
  }

  func run() async throws {
    try await Terminal.run {
      let progress = WorkProgress("replay", isShown: !OutputFile.isTerminal(nil))
      defer { progress.clear() }
      let replaying = try await Replaying(
        path: drive, configuration: configuration.file, minimumRadius: minimumRadius, accuracyLimit: accuracyLimit,
        progress: progress)
      for complaint in replaying.complaints { Terminal.note("\(drive): \(complaint)") }
      let sink = try OutputFile(path: nil)
      try replaying.run(format: format, write: sink.write)
      try sink.finish()
      progress.end()
      return .done
    }
  }
}
