import Coverage
import Foundation
import Settings
import Store
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// `sessions --speed-tests`: the list of stored speed tests.
struct SpeedTestListingTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration

  init() throws {
    folder = try TemporaryFolder()
    configuration = .sample(in: folder)
  }

  /// A completed and submitted test of a loop, a failed one that waits, and a running one.
  private func fill() async throws {
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    for (uuid, outcome) in [("T1", StoredSpeedTest.Outcome.completed), ("T2\u{1B}[2J", .failed), ("T3", nil)] {
      var start = SpeedTestOutbox.Start(
        controlServer: "https://host/", clientUUID: "C", testUUID: uuid, token: "t", started: .sampleStart)
      if outcome == .completed {
        (start.loopUUID, start.number, start.technology) = ("L1", 4, Technology("4G/LTE"))
        start.place = Coordinate(latitude: 48.2, longitude: 16.3)
      }
      let id = try await store.speedTests.begin(start)
      guard let outcome else { continue }
      let error = outcome == .failed ? "no connection" : nil
      var figures = outcome == .completed ? SpeedTestFigures.sample() : nil
      figures?.upload = SpeedTestRate(
        kilobitsPerSecond: 19_100, bytes: 1, nanoseconds: 1, began: 0, connections: 3, curves: [],
        silence: 2_500_000_000)
      let end = WallTime.sampleStart.later(by: .seconds(20))
      try await store.speedTests.end(id, .init(outcome, at: end, figures: figures, error: error))
      if outcome == .completed { try await store.speedTests.markSubmitted(id, .result, at: end) }
    }
  }

  @Test(
    "when tests are stored, then the table has a row for each with rates, state and error, and no control characters")
  func table() async throws {
    try await fill()
    let lines = try #require(try SpeedTestListing(configuration: configuration).table).split(separator: "\n")
    #expect(lines.count == 6 && lines.allSatisfy { TerminalColumns.count($0) <= 100 })
    #expect(lines[0].hasPrefix("test  started"))
    #expect(lines[1].contains("47.80 Mbit/s") && lines[1].contains("30.0 ms") && lines[1].contains("submitted"))
    #expect(lines[2] == "    interrupted: exports have the measured share and the silence")
    #expect(lines[3].contains("waiting") && !lines[3].contains("\u{1B}") && lines[4] == "    failed: no connection")
    #expect(lines[5].contains("measuring") && lines[5].contains(" - "))
  }

  @Test("when tests are stored, then JSON has each with its keys, and no key without a value")
  func json() async throws {
    try await fill()
    let text = try SpeedTestListing(configuration: configuration).json
    let tests = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    #expect(tests.map { $0["id"] as? Int } == [1, 2, 3])
    #expect(tests[0]["download_kbps"] as? Int == 47_800 && tests[0]["upload_kbps"] as? Int == 19_100)
    #expect(tests[0]["ping_ms"] as? Double == 30 && tests[0]["technology"] as? String == "4G/LTE")
    #expect(tests[0]["loop_uuid"] as? String == "L1" && tests[0]["test_counter"] as? Int == 4)
    #expect(tests[0]["started_at"] as? String == "2026-11-20T10:00:00.000Z")
    #expect(
      tests[0]["latitude"] as? Double == 48.2 && tests[0]["error"] == nil && tests[0]["interrupted"] as? Bool == true)
    #expect(tests[1]["error"] as? String == "no connection" && tests[1]["download_kbps"] == nil)
    #expect(tests[2]["state"] as? String == "measuring" && tests[2]["ended_at"] == nil && tests[2]["outcome"] == nil)
  }

  @Test("when there are no tests, then JSON is an empty list, and there is no table")
  func empty() throws {
    _ = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    let listing = try SpeedTestListing(configuration: configuration)
    #expect(listing.json == "[]" && listing.table == nil)
  }

  @Test("when rows have cells of different widths, then the columns are aligned, and lines have no trailing blanks")
  func aligned() {
    let text = AlignedTable.text([["a", "head"], ["longer", "x"], ["é", ""]])
    #expect(text == "a       head\nlonger  x\né")
    #expect(AlignedTable.text([]).isEmpty)
  }
}
