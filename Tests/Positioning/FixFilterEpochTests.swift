import Coverage
import Testing

@testable import Positioning

@Suite struct FixFilterEpochTests {
  @Test func whenReportsHaveEqualTime_thenTheyMakeOneFixAndTheLaterFieldsWin() throws {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1, eph: nil).with { $0.track = 10 }, at: 1)
    _ = filter.apply(.usable(seconds: 1, eph: 10).with { $0.speed = 3 }, at: 1.1)
    let fix = try #require(filter.apply(.usable(seconds: 2), at: 1.2).fixes.first)
    #expect(fix.fix.course == 10)
    #expect(fix.fix.speed == 3)
    #expect(abs((fix.fix.accuracy ?? 0) - 10) < 1e-9)
    #expect(filter.counters[.fixes] == 1)
  }

  @Test func whenAReceiverIsQuietFor200Milliseconds_thenTheEpochIsDelivered() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    #expect(filter.nextDeadline == TestTime.at(1.2).instant)
    #expect(filter.advance(to: 1.199).isEmpty)
    let fixes = filter.advance(to: 1.2).fixes
    #expect(fixes.map(\.arrival) == [TestTime.at(1).instant])
    #expect(fixes.map(\.delivered) == [TestTime.at(1.2).instant])
  }

  @Test func whenAReportHasNoTime_thenItJoinsTheOpenEpoch() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    _ = filter.apply(.usable(seconds: 1), at: 1.1)
    _ = filter.apply(.usable(), at: 1.2)
    #expect(filter.advance(to: 2).fixes.count == 1)
  }

  @Test func whenNoReportHasATimeAndTheyNeverStop_thenFixesStillCome() {
    var filter = FixFilter.fresh()
    let latitudes = (0..<100).map { 48 + Double($0) / 1e5 }
    let events = filter.play(latitudes.enumerated().map { (Double($0) / 10, TPV.usable(latitude: $1)) })
    #expect(events.fixes.map(\.fix.coordinate?.latitude) == latitudes)
  }

  @Test func whenThePositionImproves_thenItsArrivalIsThatOfTheNewPosition() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1), at: 1)
    _ = filter.apply(.usable(latitude: 48.3, seconds: 1), at: 1.1)
    _ = filter.apply(.usable(latitude: 48.3, seconds: 1), at: 1.2)
    #expect(filter.advance(to: 2).fixes.map(\.arrival) == [TestTime.at(1.1).instant])
  }

  @Test func whenTimesInterleave_thenEachEpochGivesOneFix() {
    var filter = FixFilter.fresh()
    let times: [Double] = [1, 2, 1, 2, 3, 2, 3]
    var events = times.enumerated().flatMap { filter.apply(.usable(seconds: $1), at: 1 + Double($0) / 100) }
    events += filter.advance(to: 2)
    #expect(events.fixes.count == 3)
    #expect(filter.counters[.stragglers] == 2)
  }

  @Test func `when the receiver's time stands still while it moves, then fixes go on`() {
    var filter = FixFilter.fresh()
    let events = filter.play(
      (0..<20).map { index in (Double(index) * 2, TPV.usable(latitude: 48 + Double(index) / 1e5, seconds: 1)) })
    #expect(events.fixes.count == 20)
    #expect(!events.statuses.contains(.noFix))
  }

  @Test("when one report is repeated for ever, then the position is lost", arguments: [1.0, nil])
  func frozen(seconds: Double?) {
    var filter = FixFilter.fresh()
    let report = TPV.usable(seconds: seconds).with { ($0.speed, $0.track) = (13.4, 87) }
    let events = filter.play((0..<200).map { (Double($0) / 5, report) })
    #expect(events.fixes.map { $0.fix == .lost } == [false, true])
    #expect(events.statuses == [.positioned(device: "gps0"), .noFix])
    #expect(filter.counters[.repeated] > 150)
    #expect(filter.counters.refusals?.contains("repeated") == true)
  }

  @Test func `when a receiver without a time is at rest, then its position is not lost`() {
    var filter = FixFilter.fresh()
    let report = TPV.usable().with { $0.speed = 0.2 }
    let events = filter.play((0..<20).map { (Double($0), report) })
    #expect(!events.statuses.contains(.noFix))
  }

  @Test(
    "when reports without a time come within 40 ms, then they make one fix", arguments: [(1.04, 1), (1.040_001, 2)])
  func burst(at second: Double, fixes: Int) {
    var filter = FixFilter.fresh()
    let events = filter.play([(1, .usable(latitude: 48.2)), (second, .usable(latitude: 48.21))])
    #expect(events.fixes.count == fixes)
  }

  @Test(
    "when a report without a time is repeated at more than 1 m/s, then it is not a new position",
    arguments: [(1.0, 0), (1.1, 1)])
  func repeated(speed: Double, count: Int) {
    var filter = FixFilter.fresh()
    for second in [1.0, 10] {
      _ = filter.apply(.usable().with { ($0.speed, $0.track) = (speed, 90) }, at: second)
      _ = filter.advance(to: second + 1)
    }
    #expect(filter.counters[.repeated] == count)
  }
}
