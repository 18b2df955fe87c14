import Coverage
import Testing

@testable import Positioning

@Suite struct ReceiversTests {
  @Test func `when a server invents receivers, then the first 64 are remembered`() {
    var receivers = Receivers()
    func judge(_ device: String, _ time: Double, at now: Double) -> ReceiverPace.Verdict {
      // The host's wall clock agrees with each time, so that only the earlier times of this receiver can make it old.
      let host = HostTime(instant: TestTime.at(now).instant, wall: TestTime.at(time).wall)
      return receivers.update(device) { $0.pace.check(TestTime.at(time).wall, at: host) }
    }
    let verdicts = (0..<70).map { number in
      for second in [0.0, 1, 2] { _ = judge("\(number)", second, at: second) }
      return judge("\(number)", 0, at: 3)
    }
    #expect(verdicts == Array(repeating: .behind, count: 64) + Array(repeating: .current, count: 6))
  }

  @Test func `when another receiver is chosen, then the epochs of the previous one do not affect it`() throws {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1, device: "a"), at: 1)
    _ = filter.apply(.device(GPSDDevice(path: "a", isActive: false, cycle: nil)), at: TestTime.at(1.1))
    _ = filter.apply(.usable(device: "b"), at: 1.2)
    _ = filter.apply(.usable(seconds: 1, device: "b").with { $0.speed = 3 }, at: 1.22)
    let fix = try #require(filter.advance(to: 2).fixes.last)
    #expect(fix.device == "b")
    #expect(fix.fix.speed == 3)
  }

  @Test func `when one position is reported for longer than the loss timeout, then it is not lost`() {
    var filter = FixFilter(
      configuration: .init(staleAfter: .milliseconds(500)), startingAt: TestTime.origin)
    let reports = (1...9).map { (Double($0) * 0.15, TPV.usable()) }
    var events: [PositioningEvent] = []
    for (at, report) in reports { events += filter.apply(report, at: at) }
    #expect(!events.statuses.contains(.noFix))
  }

  @Test func `when a receiver's time runs a quarter faster than the host's, then it is not at the host's pace`() {
    for (seconds, isAtItsPace) in [(1.2, true), (1.25, false)] {
      var receiver = ChosenReceiver(device: nil)
      receiver.epoch = Epoch(.usable(seconds: 0), at: TestTime.at(0))
      #expect(receiver.closeEpoch() != nil)
      #expect(receiver.isAtItsPace(until: TestTime.at(seconds).wall, TestTime.at(1).instant) == isAtItsPace)
    }
  }

  @Test func `when one receiver changes, then the others stay as they are`() {
    var receivers = Receivers()
    _ = receivers.replace(with: [GPSDDevice(path: "a", cycle: 10), GPSDDevice(path: "b", cycle: 2)])
    _ = receivers.update(GPSDDevice(path: "b", cycle: 3))
    #expect(receivers.cycle(of: "a") == .seconds(10))
    #expect(receivers.cycle(of: "b") == .seconds(3))
  }
}
