import Coverage
import Testing

@testable import Positioning

@Suite struct ReceiverChoiceTests {
  /// Receiver `a` each second, `b` half a second after it.
  private func receivers(count: Int = 30, a: (Int) -> TPV, b: (Int) -> TPV) -> [String?] {
    var filter = FixFilter.fresh()
    var reports: [(at: Double, tpv: TPV)] = []
    for second in 0..<count {
      reports.append((Double(second), a(second).with { $0.device = "a" }))
      reports.append((Double(second) + 0.5, b(second).with { $0.device = "b" }))
    }
    return filter.play(reports).fixes.map(\.device)
  }

  @Test(
    "when a poor receiver reports first, then a good one beside it takes over within seconds",
    arguments: [500, 16, nil])
  func poor(eph: Double?) {
    let fixes = receivers(
      a: { .usable(mode: 2, seconds: Double($0), eph: eph) }, b: { .usable(seconds: Double($0), eph: 5) })
    #expect((2...5).contains(fixes.count { $0 == "a" }))
    #expect(fixes.dropFirst(5).allSatisfy { $0 == "b" })
  }

  @Test(
    "when the first receiver is good enough, or the other no better, then the first stays",
    arguments: [
      (9.0, 1.0), (20, 15), (5, 500), (500, nil),
    ] as [(Double, Double?)])
  func good(a: Double, b: Double?) {
    let fixes = receivers(a: { .usable(seconds: Double($0), eph: a) }, b: { .usable(seconds: Double($0), eph: b) })
    #expect(Set(fixes) == ["a"])
  }

  @Test func `when the other receiver is better only now and then, then the first stays`() {
    let fixes = receivers(
      count: 60, a: { .usable(seconds: Double($0), eph: 40) },
      b: { .usable(seconds: Double($0), eph: $0.isMultiple(of: 3) ? 80 : 4) })
    #expect(Set(fixes) == ["a"])
  }

  @Test func `when a better receiver has only old positions, then it does not take over`() {
    let fixes = receivers(
      count: 60, a: { .usable(seconds: Double($0), eph: 40) },
      b: { .usable(seconds: $0 < 3 ? Double($0) : 2 + Double($0) / 1000, eph: 4) })
    #expect(fixes.suffix(40).allSatisfy { $0 == "a" })
  }

  @Test func `when a better receiver reports again after three seconds, then it takes over, not earlier or later`() {
    for (gap, isChosen) in [(2.9, false), (3, true), (3.1, false)] {
      var choice = ReceiverChoice()
      let verdicts = [0.0, gap].map { choice.takesOver("b", theirs: 4, mine: 40, at: TestTime.at($0).instant) }
      #expect(verdicts == [false, isChosen])
    }
  }

  @Test(arguments: [(20.0, true), (20.1, false)])
  func `when a receiver has at most half of the error, then it is better`(theirs: Double, isBetter: Bool) {
    var choice = ReceiverChoice()
    let verdicts = [0.0, 3].map { choice.takesOver("b", theirs: theirs, mine: 40, at: TestTime.at($0).instant) }
    #expect(verdicts == [false, isBetter])
  }

  @Test func `when a third receiver is better too, then the second receiver's time does not count for it`() {
    var choice = ReceiverChoice()
    let verdicts = [("b", 0.0), ("c", 1), ("b", 2), ("c", 3), ("b", 3)].map { device, time in
      choice.takesOver(device, theirs: 4, mine: 40, at: TestTime.at(time).instant)
    }
    #expect(verdicts == [false, false, false, false, true])
  }

  @Test func `when a receiver's time comes with a later report, then the host's time of that report belongs to it`() {
    var epoch = Epoch(TPV.usable(seconds: 0).with { $0.time = nil }, at: TestTime.at(0))
    #expect(epoch.clockDifference == nil)
    let (next, now) = (TPV.usable(seconds: 7), TestTime.at(0.02))
    epoch.merge(next, at: now)
    let expected = next.time.map { Duration.microseconds($0.microseconds - now.wall.microseconds) }
    #expect(epoch.clockDifference == expected && expected != nil)
    // A second time does not change it.
    epoch.merge(next, at: TestTime.at(0.03))
    #expect(epoch.clockDifference == expected)
  }

  @Test func `when the better receiver goes on reporting, then its time counts from its first better position`() {
    var choice = ReceiverChoice()
    let verdicts = [0.0, 2.9, 3.5].map { choice.takesOver("b", theirs: 4, mine: 40, at: TestTime.at($0).instant) }
    #expect(verdicts == [false, false, true])
  }

  @Test("when the chosen receiver has 10 m, then it is good enough", arguments: [(10.0, false), (10.1, true)])
  func goodEnough(mine: Double, takesOver: Bool) {
    var choice = ReceiverChoice()
    let verdicts = [0.0, 3].map { choice.takesOver("b", theirs: 4, mine: mine, at: TestTime.at($0).instant) }
    #expect(verdicts == [false, takesOver])
  }
}
