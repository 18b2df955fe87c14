import Coverage
import Foundation
import OrderedJSON
import Settings
import Store

/// `sessions --speed-tests`: lists the stored speed tests with state and figures.
struct SpeedTestListing: Sendable {
  private let tests: [StoredSpeedTest]

  /// Reads the tests, also while another process writes to the store.
  /// - Throws: `StoreError`, GRDB's `DatabaseError`
  init(configuration: ProbeConfiguration) throws {
    tests = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory)).speedTests()
  }

  /// A JSON array, oldest test first; times are ISO 8601 in UTC.
  var json: String {
    tests.isEmpty ? "[]" : "[\n" + tests.map { Self.json($0).text }.joined(separator: ",\n") + "\n]"
  }

  private static func json(_ test: StoredSpeedTest) -> JSON {
    .object([
      "id": .integer(test.id), "test_uuid": .string(test.testUUID), "loop_uuid": test.loopUUID.map(JSON.string),
      "test_counter": test.number.map { .integer(Int64($0)) }, "drive": test.drive.map(JSON.integer),
      "started_at": .string(test.started.iso8601), "ended_at": test.ended.map { .string($0.iso8601) },
      "outcome": test.outcome.map { .string($0.rawValue) }, "state": .string(test.state.rawValue),
      "qos_state": test.qosState.map { .string($0.rawValue) },
      "download_kbps": (test.figures?.download?.kilobitsPerSecond).map(JSON.integer),
      "upload_kbps": (test.figures?.upload?.kilobitsPerSecond).map(JSON.integer),
      "interrupted": (test.figures?.isInterrupted).map(JSON.bool),
      "ping_ms": (test.figures?.medianPing).map { .decimal(units: $0, places: 6) },
      "technology": test.technology.map { .string($0.name) },
      "latitude": (test.place?.latitude).map(JSON.number), "longitude": (test.place?.longitude).map(JSON.number),
      "error": test.error.map(JSON.string), "quarantine_reason": test.reason.map(JSON.string),
    ])
  }

  /// A table for an operator, of at most 100 columns; `nil` without tests. Long identifiers are cut, which JSON has whole, and reasons are lines
  /// of their own.
  var table: String? {
    guard !tests.isEmpty else { return nil }
    let rows = tests.map { test in
      [
        "\(test.id)", test.started.iso8601.prefix(19) + "Z", test.number.map { "\($0)" } ?? "-",
        Self.rate(test.figures?.download), Self.rate(test.figures?.upload),
        test.figures?.medianPing.map { String(format: "%.1f ms", Double($0) / 1e6) } ?? "-",
        test.state.rawValue, ForeignText.clean(test.testUUID, limit: 40),
      ]
    }
    let head = ["test", "started", "number", "download", "upload", "ping", "state", "uuid"]
    return AlignedTable.text([head] + rows, notes: tests.map(note), cutting: [head.count - 1])
  }

  private static func rate(_ rate: SpeedTestRate?) -> String {
    rate?.kilobitsPerSecond.map(SpeedTestReport.rate) ?? "-"
  }

  /// The server's reason for a refusal, why a test has no result, and whether it was interrupted; `nil`: nothing of these.
  private func note(_ test: StoredSpeedTest) -> String? {
    let notes = [
      test.reason.map { "quarantined: \(ForeignText.clean($0))" },
      test.outcome.flatMap { $0 == .completed ? nil : "\($0.rawValue): \(ForeignText.clean(test.error ?? ""))" },
      test.figures?.isInterrupted == true ? "interrupted: exports have the measured share and the silence" : nil,
    ].compactMap { $0 }
    return notes.isEmpty ? nil : notes.joined(separator: "; ")
  }
}
