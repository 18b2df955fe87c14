import Coverage
import Testing

@testable import Positioning

/// Positions that arrive late.
@Suite struct OldPositionTests {
  /// A car at 22 m/s to the north, by the receiver's second.
  private func place(_ second: Double) -> TPV { .usable(latitude: 48 + second * 2e-4, seconds: second) }

  /// How old each fix was when it came, in seconds.
  private func ages(_ events: [PositioningEvent]) -> [Double] {
    events.fixes.compactMap { fix in
      guard let place = fix.fix.coordinate else { return nil }
      let measured: Double = (place.latitude - 48) / 2e-4
      return (fix.arrival - TestTime.origin).inSeconds - measured
    }
  }

  @Test func `when positions trickle in after a stall, then no old position counts as the present one`() {
    var filter = FixFilter.fresh()
    var reports = (0...20).map { (at: Double($0), tpv: place(Double($0))) }
    reports += (21...35).map { (35 + Double($0 - 21) * 0.05, place(Double($0))) }
    reports += (36...50).map { (Double($0), place(Double($0))) }
    let events = filter.play(reports)
    #expect(ages(events).allSatisfy { $0 < 2.01 })
    #expect(filter.counters[.behind] == 13)
    #expect(filter.counters.refusals == "13 old")
    #expect(events.fixes.count { $0.fix == .lost } == 1)
  }

  @Test func `when one old epoch comes after a suspend, then it is refused`() {
    var filter = FixFilter.fresh()
    var reports = (0...20).map { (at: Double($0), tpv: place(Double($0))) }
    reports += [(3621, place(21)), (3621.5, place(3621.5)), (3622, place(3622))]
    let events = filter.play(reports)
    #expect(ages(events).allSatisfy { $0 < 0.01 })
    #expect(filter.counters[.behind] == 1)
  }

  @Test func `when a position of three seconds ago comes between present ones, then it is refused`() {
    var filter = FixFilter.fresh()
    var reports: [(at: Double, tpv: TPV)] = []
    for second in 0...60 {
      reports.append((Double(second), place(Double(second))))
      if second > 5 { reports.append((Double(second) + 0.5, place(Double(second - 3)))) }
    }
    let events = filter.play(reports)
    #expect(ages(events).allSatisfy { $0 < 0.01 })
    #expect(events.fixes.count == 61)
    #expect(filter.counters[.behind] == 55)
  }

  @Test func `when dates flap, then each second has its fix`() {
    var filter = FixFilter.fresh()
    let events = filter.play(
      (0..<100).map { second in
        (Double(second), TPV.usable(seconds: Double(second) + (second.isMultiple(of: 2) ? 619_315_200 : 0)))
      })
    #expect(events.fixes.count == 100)
    #expect(!events.statuses.contains(.noFix))
  }

  @Test func `when two positions come in one read, then the newer is the fix`() {
    var filter = FixFilter.fresh()
    let reports = [(at: 1.0, tpv: place(1)), (2, place(2)), (4, place(3)), (4, place(4)), (5, place(5))]
    let events = filter.play(reports)
    #expect(ages(events).allSatisfy { abs($0) < 0.01 })
    #expect(events.fixes.count == 4)
    #expect(filter.counters[.overtaken] == 1)
  }

  @Test func `when each read ends one position and begins the next, then positions still become fixes`() {
    var filter = FixFilter.fresh()
    var events: [PositioningEvent] = []
    for second in 1...30 {
      // The second sentence of each position has more digits than the first.
      events += filter.apply(place(Double(second)).with { $0.latitude? += 1e-7 }, at: Double(second))
      events += filter.apply(place(Double(second + 1)), at: Double(second))
    }
    #expect(events.fixes.count { $0.fix != .lost } >= 28)
    let arrivals = events.fixes.map(\.arrival)
    #expect(zip(arrivals, arrivals.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `when a receiver's first position comes in one read with the last of another, then one of them is a fix`()
  {
    var filter = FixFilter.fresh()
    var events: [PositioningEvent] = []
    for second in 1...30 {
      let now = Double(second)
      for device in ["/dev/coarse", "/dev/fine"] {
        let report = place(now).with { ($0.device, $0.eph) = (device, device == "/dev/fine" ? 2 : 400) }
        events += filter.apply(report, at: now)
      }
    }
    events += filter.advance(to: 31)
    #expect(events.statuses.contains(.positioned(device: "/dev/fine")))
    let arrivals = events.fixes.map(\.arrival)
    #expect(zip(arrivals, arrivals.dropFirst()).allSatisfy { $0 < $1 })
  }
}
