import TestSupport
import Testing

@testable import Coverage

/// ISO 8601 as the drive log and the listings write it.
@Suite struct WallTimeTests {
  @Test(arguments: WallTimes.byPython)
  func `when a moment is written, then its text equals that of Python's calendar`(microseconds: Int64, text: String) {
    #expect(WallTime(microseconds: microseconds).iso8601 == text)
  }

  @Test(arguments: WallTimes.byPython)
  func `when a written moment is read, then it is the same to the millisecond`(microseconds: Int64, text: String) {
    let wall = WallTime(microseconds: microseconds)
    #expect(WallTime(iso8601: text) == WallTime(microseconds: wall.milliseconds * 1000))
  }

  @Test func `when random moments are written and read, then they are the same`() {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<2_000 {
      let milliseconds = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random)
      let wall = WallTime(microseconds: milliseconds * 1000)
      #expect(WallTime(iso8601: wall.iso8601) == wall)
    }
  }

  @Test func `when moments are in order, then their texts are in the same order`() {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<500 {
      let a = Int64.random(in: 0...4_102_444_800_000, using: &random)
      let b = Int64.random(in: 0...4_102_444_800_000, using: &random)
      let texts = [a, b].map { WallTime(microseconds: $0 * 1000).iso8601 }
      #expect((a < b) == (texts[0] < texts[1]))
    }
  }

  @Test(arguments: [
    ("2026-11-20T10:00:00Z", 0), ("2026-11-20T10:00:00.5Z", 500_000), ("2026-11-20T10:00:00.123456Z", 123_456),
    ("2026-11-20T10:00:00.123456789Z", 123_456), ("2026-11-20T10:00:00.000001Z", 1),
  ])
  func `when the fraction has any number of digits, then it is read to the microsecond`(text: String, rest: Int64) {
    #expect(WallTime(iso8601: text) == WallTime(microseconds: 1_795_168_800_000_000 + rest))
  }

  @Test(arguments: [
    "", "Z", "now", "2026-11-20", "2026-11-20T10:00:00", "2026-11-20 10:00:00Z", "2026-11-20T10:00Z",
    "2026-11-20T10:00:00+01:00", "2026-13-20T10:00:00Z", "2026-00-20T10:00:00Z", "2026-11-00T10:00:00Z",
    "2026-11-32T10:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T10:60:00Z", "2026-11-20T10:00:61Z",
    "2026-11-20T10:00:00.Z", "2026-11-20T10:00:00.1.2Z", "2026-11-20T-1:00:00Z", "2026-11-20T10:00:00.12x4Z",
    "2026-11-20T10:00:00ZZ", "2026-11-20T10:00:00.000Zjunk", " 2026-11-20T10:00:00Z", "20261120T100000Z",
    "99999999999999999999-01-01T00:00:00Z", "２０２６-11-20T10:00:00Z",
  ])
  func `when a text is not a moment, then it is rejected`(text: String) {
    #expect(WallTime(iso8601: text) == nil)
  }

  @Test(arguments: [
    "2026-02-29T10:00:00Z", "2026-02-31T10:00:00Z", "2026-04-31T10:00:00Z", "1900-02-29T10:00:00Z",
  ])
  func `when a day does not exist, then it is rejected`(text: String) {
    #expect(WallTime(iso8601: text) == nil)
  }

  @Test func `when garbage follows the sixth digit, then the text is rejected`() {
    #expect(WallTime(iso8601: "2026-11-20T10:00:00.123456xyzZ") == nil)
  }
}
