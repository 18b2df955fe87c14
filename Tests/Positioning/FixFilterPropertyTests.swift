import Coverage
import TestSupport
import Testing

@testable import Positioning

extension PositioningCounters {
  /// The number of TPVs with a known fate; those of an epoch that is still open have none yet.
  fileprivate var fates: Int {
    let fates: [Counter] = [
      .otherDevice, .noFix, .withoutPosition, .outOfRange, .nullIsland, .surveyed, .simulated, .stragglers, .overtaken,
      .merged, .fixes, .jumps, .behind, .repeated,
    ]
    return fates.reduce(0) { $0 + self[$1] }
  }
}

/// Properties of the filter for any input.
@Suite struct FixFilterPropertyTests {
  /// Reports as a bad receiver, or several, could send them.
  private func report(_ generator: inout SeededGenerator, at seconds: Double) -> TPV {
    func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
    var tpv = TPV.usable(
      latitude: 48 + .random(in: -0.0005...0.0005, using: &generator), mode: one(in: 8) ? 1 : 3,
      seconds: one(in: 5) ? nil : seconds.rounded(.down) - (one(in: 8) ? 1 : 0) + (one(in: 20) ? 619_315_200 : 0),
      device: one(in: 6) ? "gps1" : "gps0", eph: one(in: 4) ? nil : 8.1)
    if one(in: 10) { tpv.latitude = 49 }
    if one(in: 15) { tpv.latitude = nil }
    if one(in: 15) { tpv.latitude = 90.5 }
    if one(in: 15) { (tpv.latitude, tpv.longitude) = (0, 0) }
    if one(in: 20) { tpv.status = 8 }
    return tpv
  }

  @Test func `when reports come at random, then each has one fate, and fixes are places on Earth in the order of time`()
  {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for drive in 0..<100 {
      var filter = FixFilter(
        configuration: .init(maximumSpeed: drive.isMultiple(of: 2) ? 60 : nil),
        startingAt: TestTime.origin)
      var seconds = 0.0
      var events: [PositioningEvent] = []
      var (unfinished, overdue): (Set<Int>, Int) = ([], 0)
      for _ in 0..<200 {
        seconds += Int.random(in: 0..<50, using: &generator) == 0 ? 8 : .random(in: 0...0.5, using: &generator)
        events += filter.apply(report(&generator, at: seconds), at: seconds)
        unfinished.insert(filter.counters[.tpv] - filter.counters.fates)
        if let next = filter.nextDeadline, next <= TestTime.at(seconds).instant { overdue += 1 }
      }
      #expect(unfinished == [0, 1])
      #expect(overdue == 0)
      events += filter.advance(to: seconds + 100)
      #expect(filter.counters[.tpv] == filter.counters.fates)
      #expect(events.fixes.count { $0.fix != .lost } == filter.counters[.fixes])
      #expect(events.fixes.count { $0.fix == .lost } == filter.counters[.losses])
      #expect(drive.isMultiple(of: 2) || filter.counters[.jumps] == 0)
      #expect(zip(events.fixes, events.fixes.dropFirst()).allSatisfy { $0.delivered <= $1.delivered })
      #expect(events.fixes.allSatisfy { $0.fix == .lost || (47...50).contains($0.fix.coordinate?.latitude ?? 0) })
    }
  }
}
