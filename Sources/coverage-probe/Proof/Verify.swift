import ArgumentParser
import Foundation
import Service

struct Verify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compares a drive log with a packet capture of the same drive.",
    discussion: """
      Derives each ping's round-trip time again from the files of `record --capture`, and reports the differences. \
      Exit status: 0 when the capture confirms the log: the same pings, the same ones lost, 99 of 100 round-trip times \
      within --limit and none more than 1 ms, or --limit if larger, apart; 1 when they differ, or a file cannot be read; 64 wrong usage.
      """)

  @Argument(help: "A drive log.", completion: .file(extensions: ["jsonl"]))
  var drive: String

  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp("All capture files of the drive, or of its link, in any order.", valueName: "files"),
    completion: .file(extensions: ["pcap", "pcapng"]))
  var capture: [String]

  @Option(
    name: .long, parsing: .unconditional,
    help: "The largest allowed 99th percentile of the differences between round-trip times, in microseconds.")
  var limit = 50

  @Option(
    name: .long, parsing: .unconditional,
    help: "The timeout of a ping in seconds. Default: the log's, or 1.")
  var timeout: Double?

  mutating func validate() throws {
    if capture.isEmpty { throw ValidationError("Missing expected argument '--capture <files> ...'.") }
    if !(1...1_000_000).contains(limit) { throw ValidationError("--limit is \(limit): expected 1 to 1000000.") }
    if let timeout, !(0.001...3600).contains(timeout) {
      throw ValidationError("--timeout is \(timeout): expected 0.001 to 3600.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      let progress = WorkProgress("verify")
      defer { progress.clear() }
      let verifying = try Verifying(
        path: drive, captures: capture, limit: .microseconds(limit), timeout: timeout.map { .seconds($0) },
        progress: progress)
      progress.end()
      verifying.complaints.forEach(Terminal.note)
      verifying.lines.forEach(Terminal.result)
      return verifying.outcome
    }
  }
}
