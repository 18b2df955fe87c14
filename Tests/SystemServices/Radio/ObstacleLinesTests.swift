import Testing

@testable import SystemServices

/// The log lines about reasons for no technology.
struct ObstacleLinesTests {
  private let start = ContinuousClock.now

  private func lines(_ readings: [(String?, Int)]) -> [ObstacleLines.Line?] {
    var lines = ObstacleLines()
    return readings.map { lines.line(for: $0, at: start + .seconds($1)) }
  }

  @Test("when an obstacle begins and ends, then both are logged, and repeated readings are not")
  func both() {
    #expect(
      lines([(nil, 0), ("no SIM", 1), ("no SIM", 2), (nil, 3), (nil, 4)]) == [
        nil, .began("no SIM"), nil, .ended, nil,
      ])
  }

  @Test("when one obstacle follows another, then each is logged, and only the last one's end is")
  func follow() {
    #expect(
      lines([("no modem", 0), ("no SIM", 1), (nil, 2)]) == [.began("no modem"), .began("no SIM"), .ended])
  }

  @Test("when an obstacle comes and goes, then it is logged once in ten minutes, and its end only after such a line")
  func flapping() {
    #expect(
      lines([("searching", 0), (nil, 5), ("searching", 10), (nil, 15), ("searching", 600), (nil, 605)]) == [
        .began("searching"), .ended, nil, nil, .began("searching"), .ended,
      ])
  }

  @Test("when a logged obstacle turns into another that was logged lately, then the other's end is logged too")
  func mixed() {
    #expect(
      lines([("searching", 0), (nil, 1), ("no modem", 2), ("searching", 3), (nil, 4)]) == [
        .began("searching"), .ended, .began("no modem"), nil, .ended,
      ])
  }
}
