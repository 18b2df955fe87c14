import Coverage
import Testing

@testable import Positioning

@Suite struct ReceiverClockTests {
  private func clocks(_ events: [PositioningEvent]) -> [ReceiverClock] {
    events.compactMap { if case .clock(let clock) = $0 { clock } else { nil } }
  }

  @Test func `when two receivers have a fix, then the time of each is reported with its arrival`() {
    var filter = FixFilter.fresh()
    let events =
      filter.apply(.usable(seconds: 1, device: "a"), at: 1.1) + filter.apply(.usable(seconds: 0, device: "b"), at: 1.2)
    #expect(
      clocks(events) == [
        ReceiverClock(
          device: "a", time: TestTime.wallOrigin + .init(.seconds(1)), arrival: TestTime.at(1.1).instant),
        ReceiverClock(device: "b", time: TestTime.wallOrigin, arrival: TestTime.at(1.2).instant),
      ])
  }

  @Test func `when a receiver reports ten times a second, then its time is reported about once a second`() {
    var filter = FixFilter.fresh()
    let events = (0..<50).flatMap { filter.apply(.usable(seconds: Double($0) / 10), at: Double($0) / 10) }
    #expect(clocks(events).map(\.arrival) == (0..<6).map { TestTime.at(Double($0) * 0.9).instant })
  }

  @Test func `when a fix has two dimensions, then its time is delivered`() {
    var filter = FixFilter.fresh()
    #expect(
      clocks(filter.apply(.usable(mode: 2, seconds: 1), at: 1)).map(\.time) == [
        TestTime.wallOrigin + .init(.seconds(1))
      ])
  }

  @Test func `when there is no fix, no time or an old one, then no time is reported`() {
    var filter = FixFilter.fresh()
    let reports = [TPV.usable(mode: 1, seconds: 1), .usable(), .usable(seconds: 2), .usable(seconds: 2)]
    let events = reports.enumerated().flatMap { filter.apply($1, at: Double($0) * 2) }
    #expect(clocks(events).map(\.time) == [TestTime.wallOrigin + .init(.seconds(2))])
  }

  @Test func `when a server invents receivers, then only 64 of them are read`() {
    var filter = FixFilter.fresh()
    let events = (0..<100).flatMap { filter.apply(.usable(seconds: 1, device: "\($0)"), at: 1) }
    #expect(clocks(events).count == 64)
  }
}
