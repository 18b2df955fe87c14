import Coverage
import TestSupport
import Testing

@testable import Export

/// Values of a fence's line at the edges of their ranges, and the pieces of the output.
struct FenceRecordTests {
  private struct DiskFull: Error {}

  private func record(
    _ fence: Fence, session: Session = Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(16)),
    origin: FenceRecord.Origin = .replay, link: String? = nil
  ) -> FenceRecord {
    FenceRecord(fence: fence, session: session, origin: origin, link: link)
  }

  private func export(_ format: ExportFormat, _ records: [FenceRecord]) throws -> String {
    var text: [UInt8] = []
    try format.export(records) { text += $0 }
    return String(decoding: text, as: UTF8.self)
  }

  @Test(
    "when a course is rounded to north, then it is 0 and never 360",
    arguments: [(0, "0.0"), (359.94, "359.9"), (359.95, "0.0"), (359.999, "0.0"), (0.04, "0.0")])
  func course(degrees: Double, expected: String) throws {
    let fence = Fence.sample(fix: Fix(coordinate: Coordinate(latitude: 48, longitude: 16), course: degrees))
    #expect(try export(.jsonl, [record(fence)]).contains("\"course_deg\":\(expected),"))
  }

  @Test(
    "when a delay lies between two microseconds, then it is rounded to the nearer one, half up",
    arguments: [(0, "0.0"), (499, "0.0"), (500, "0.001"), (1_499, "0.001"), (999_500, "1.0"), (1_000_499, "1.0")]
      as [(Int64, String)])
  func delay(nanoseconds: Int64, expected: String) throws {
    let fence = Fence.sample(pings: 1, answered: 1, rttSumNanoseconds: nanoseconds)
    #expect(try export(.jsonl, [record(fence)]).contains("\"avg_ping_ms\":\(expected),"))
  }

  @Test("when a drive has several links, then the line has the fence's link; otherwise the key is absent")
  func link() throws {
    #expect(try export(.jsonl, [record(.sample(), link: "A")]).contains(",\"link\":\"A\",\"radius_m\":"))
    #expect(try !export(.jsonl, [record(.sample())]).contains("\"link\""))
  }

  @Test("when a session has neither test nor anchor, then the line has neither identifier nor offset")
  func withoutTest() throws {
    let session = Session(number: 0, testUUID: nil, started: .start)
    let line = try export(.jsonl, [record(.sample(), session: session)])
    #expect(!line.contains("test_uuid") && !line.contains("offset_ms"), "\(line)")
  }

  @Test("when a fence is open, then it has neither an end nor a duration, in a replay and from the store")
  func open() throws {
    for origin in [FenceRecord.Origin.replay, .store(driveStarted: .sampleStart, session: 3)] {
      let line = try export(.jsonl, [record(.sample(lasted: nil), origin: origin)])
      #expect(line.contains("\"entered") && !line.contains("\"exited") && !line.contains("duration_ms"), "\(line)")
    }
  }

  @Test("when a technology is unknown, then the line has neither its name nor its number")
  func technology() throws {
    for name in ["6G", "</script>"] {
      #expect(try !export(.jsonl, [record(.sample(technology: name))]).contains("technology"))
    }
  }

  @Test("when no ping was answered, then there is no mean, and all pings are lost")
  func unanswered() throws {
    let line = try export(.jsonl, [record(.sample(pings: 7, answered: 0, rttSumNanoseconds: 0))])
    #expect(line.contains("\"pings\":7,\"pings_ok\":0,\"technology\""), "\(line)")
    #expect(line.contains("\"pings_lost\":7,"))
  }

  @Test("when a stored fence has an identifier, then the feature has it instead of the number in the drive")
  func identifier() throws {
    let stored = FenceRecord(
      id: 4711, fence: .sample(number: 2), session: Session(number: 0, testUUID: nil, started: .start),
      origin: .store(driveStarted: .sampleStart, session: 3))
    #expect(try export(.geojson, [stored]).contains("{\"type\":\"Feature\",\"id\":4711,"))
    #expect(try export(.geojson, [record(.sample(number: 2))]).contains("\"id\":2,"))
  }

  @Test(
    "when there are many fences, then they are written in pieces, and no fence is lost or cut",
    arguments: [ExportFormat.jsonl, .geojson])
  func pieces(format: ExportFormat) throws {
    let records = (0..<1000).map { record(.sample(number: $0)) }
    var pieces: [[UInt8]] = []
    try format.export(records) { pieces.append($0) }
    #expect(pieces.count > 3)
    #expect(pieces.allSatisfy { $0.count < 1 << 17 }, "memory does not grow with the fences")
    let text = String(decoding: pieces.joined(), as: UTF8.self)
    #expect(text.ranges(of: "\"entered\":10.0,").count == 1000)
    #expect(text.hasSuffix("}\n"))
  }

  @Test("when the disk is full, then the export ends with that error, in each format", arguments: ExportFormat.allCases)
  func failingWrite(format: ExportFormat) {
    var calls = 0
    #expect(throws: DiskFull.self) {
      try format.export([record(.sample())]) { _ in
        calls += 1
        throw DiskFull()
      }
    }
    #expect(calls == 1, "nothing is written after the failure")
  }

  @Test("when there is no fence, then each format is still a complete document")
  func empty() throws {
    #expect(try export(.jsonl, []).isEmpty)
    #expect(try export(.geojson, []) == "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n")
    #expect(try export(.html, []).hasSuffix("</html>\n"))
  }
}
