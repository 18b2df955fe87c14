import Coverage
import Testing

@testable import Positioning

@Suite struct FixFilterClockTests {
  /// The statuses about the clock when the receiver's time is off by these seconds, one fix a second.
  private func clockStatuses(_ differences: [Double]) -> [PositioningStatus] {
    var filter = FixFilter.fresh()
    let events = differences.enumerated().flatMap { index, difference in
      filter.apply(.usable(seconds: Double(index) + difference), at: Double(index))
        + filter.advance(to: Double(index) + 0.5)
    }
    #expect(events.fixes.count == differences.count)
    #expect(events.fixes.map(\.clockDifference) == differences.map { .microseconds(Int64($0 * 1e6)) })
    return events.statuses.filter { if case .clockDifference = $0 { true } else { false } }
  }

  @Test func whenTheReceiversTimeIsNear_thenNothingIsReported() {
    #expect(clockStatuses([0, 2, -2, 0.5]) == [])
  }

  @Test func whenItIsOffByYears_thenThatIsReportedOnceAndTheFixesCount() {
    let rollover = -619_315_200.0
    #expect(clockStatuses([rollover, rollover + 1, rollover - 1]) == [.clockDifference(.seconds(rollover))])
  }

  @Test func whenItJumpsBackToTheTruth_thenThatIsReported() {
    #expect(
      clockStatuses([619_315_200, 619_315_200, 0, 0]) == [
        .clockDifference(.seconds(619_315_200)), .clockDifference(nil),
      ])
  }

  /// A crash in the field: gpsd passed on the time of a receiver with a broken almanac, and 64 bits of nanoseconds
  /// overflowed.
  @Test(
    "when the receiver's time is centuries off, then that is reported in seconds and the fixes count",
    arguments: ["0001-01-01T00:00:00Z", "1600-06-01T00:00:00.5Z", "2400-01-01T00:00:00Z", "9999-12-31T23:59:60Z"])
  func whenItIsOffByCenturies(time: String) throws {
    var filter = FixFilter.fresh()
    let line = #"{"class":"TPV","mode":3,"time":"\#(time)","lat":48.2,"lon":16.3,"eph":5}"#
    let report = try #require(GPSDReport(line: Array(line.utf8)))
    let now = HostTime(instant: TestTime.at(1).instant, wall: WallTime(microseconds: 1_795_168_800_000_000))
    let events = filter.apply(report, at: now) + filter.advance(to: TestTime.at(2))
    #expect(events.fixes.count == 1)
    let news = events.statuses.compactMap { if case .clockDifference(let off?) = $0 { ("\($0)", off) } else { nil } }
    let (text, difference) = try #require(news.first)
    #expect(abs(difference.inSeconds) > 250 * 365.25 * 86_400)
    #expect(text.contains("differs from the host's by \(difference.inSeconds) s"))
  }

  @Test("when a difference varies around the tolerance, then it is reported once")
  func aboutTheTolerance() {
    #expect(clockStatuses([2.25, 1.75, 2.25, 1.75, 0.5]) == [.clockDifference(.seconds(2.25)), .clockDifference(nil)])
  }

  @Test(
    "when the host was suspended, then only the newest of the positions that waited counts",
    arguments: [1.0, 5.0, 10.0])
  func backlog(rate: Double) {
    var filter = FixFilter.fresh()
    for second in 1...5 { _ = filter.apply(.usable(seconds: Double(second)), at: Double(second)) }
    _ = filter.advance(to: 5.5)
    // Twenty seconds later, all positions since then at once: one millisecond for each second of positions.
    var events: [PositioningEvent] = []
    for step in 0..<Int(20 * rate) {
      let seconds = 5 + Double(step + 1) / rate
      events += filter.apply(
        .usable(latitude: 48.2 + seconds / 1e4, seconds: seconds), at: 25 + Double(step) / rate / 1000)
    }
    events += filter.advance(to: 25.3)
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == [48.2 + 25 / 1e4])
    #expect(filter.counters[.overtaken] + filter.counters[.behind] == Int(20 * rate) - 1)
    // Then the stream goes on at its pace.
    _ = filter.apply(.usable(seconds: 26), at: 26)
    #expect(filter.advance(to: 26.5).fixes.count == 1)
  }

  @Test("when positions come back after a tunnel at their pace, then each counts, even at 25 a second")
  func noBacklog() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1), at: 1)
    _ = filter.advance(to: 20)
    var fixes = 0
    for step in 0..<50 {
      let seconds = 20 + Double(step) / 25
      fixes += filter.apply(.usable(seconds: seconds), at: seconds).fixes.count
    }
    #expect(fixes + filter.advance(to: 23).fixes.count == 50)
  }

  @Test("when several positions come at once after a short stall, then only the last of them counts")
  func shortStall() {
    var filter = FixFilter.fresh()
    var events = filter.apply(.usable(latitude: 48.21, seconds: 1), at: 1)
    events += filter.advance(to: 1.2)
    for step in 2...4 {
      // In one piece, or nearly so.
      let now = step < 4 ? 1.5 : 1.501
      events += filter.apply(.usable(latitude: 48.2 + Double(step) / 100, seconds: 1 + Double(step) / 10), at: now)
    }
    events += filter.apply(.usable(latitude: 48.25, seconds: 1.5), at: 1.6)
    events += filter.advance(to: 1.9)
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == [48.21, 48.24, 48.25])
    #expect(filter.counters[.overtaken] == 2)
  }

  @Test(
    "when positions come back after a loss, then only the last of a read counts; half a day apart, each counts",
    arguments: [(3620, 1, 1), (19, 43_199, 1), (19, 43_200, 2)])
  func backlogWithAnotherDate(first: Double, step: Double, fixes: Int) {
    var filter = FixFilter.fresh()
    for second in 1...5 { _ = filter.apply(.usable(seconds: Double(second)), at: Double(second)) }
    _ = filter.advance(to: 20)
    var events = filter.apply(.usable(latitude: 48.21, seconds: first), at: 20)
    events += filter.apply(.usable(latitude: 48.22, seconds: first + step), at: 20.01)
    events += filter.advance(to: 21)
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == [48.21, 48.22].suffix(fixes))
    #expect(filter.counters[.overtaken] == 2 - fixes)
  }

  @Test("when a recording is played fast, then the second of two positions in one read counts")
  func fastRecording() {
    var filter = FixFilter.fresh()
    var events: [PositioningEvent] = []
    for step in 0..<20 {
      events += filter.apply(
        .usable(latitude: 48 + Double(step) / 100, seconds: Double(step)), at: 1 + Double(step) / 100)
    }
    events += filter.apply(.usable(latitude: 48.5, seconds: 20), at: 1.2)
    events += filter.apply(.usable(latitude: 48.6, seconds: 21), at: 1.2)
    events += filter.advance(to: 2)
    let places = (0..<20).map { 48 + Double($0) / 100 } + [48.6]
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == places)
    #expect(filter.counters[.overtaken] == 1)
  }

  @Test("when positions go on after a loss, then a later change of the date does not make them old")
  func dateAfterALoss() {
    var filter = FixFilter.fresh()
    for second in 1...5 { _ = filter.apply(.usable(seconds: Double(second)), at: Double(second)) }
    _ = filter.advance(to: 20)
    for second in 20...22 { _ = filter.apply(.usable(seconds: Double(second)), at: Double(second)) }
    _ = filter.advance(to: 22.4)
    var events = filter.apply(.usable(latitude: 48.21, seconds: 3622), at: 22.5)
    events += filter.apply(.usable(latitude: 48.22, seconds: 3623), at: 22.51)
    events += filter.advance(to: 23)
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == [48.21, 48.22])
  }
}
