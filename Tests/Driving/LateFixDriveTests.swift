import TestSupport
import Testing

@testable import Coverage
@testable import Driving
@testable import Networking

/// A fix is delivered later than its position arrived: when its epoch is complete.
struct LateFixDriveTests {
  private var rig = DriveRig()

  @Test("when a fix is delivered after pings sent since its arrival, then it counts from its arrival")
  mutating func lateFix() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(2)
    rig.ping(.answered(rttNanoseconds: 1), ago: 0.1)
    rig.fix(100, ago: 0.3)
    #expect(rig.disk.events.last?.delivered == rig.now)
    #expect(rig.drive.engine.fences[0].pings == 0)
    #expect(rig.drive.engine.openFence?.pings == 1)
  }

  @Test(
    "when a position comes back, then quick answers and losses since its arrival count in its fence alike",
    arguments: [false, true])
  mutating func afterAWindow(wasTunnel: Bool) throws {
    try rig.startPinging()
    if wasTunnel {
      rig.fix(0)
      rig.wait(1)
      rig.fix(0, accuracy: 80)
    }
    rig.wait(10)
    rig.ping(.answered(rttNanoseconds: 20_000_000), ago: 0.15)
    rig.ping(.answered(rttNanoseconds: 20_000_000), ago: 0.05)
    rig.fix(100, ago: 0.2)
    rig.wait(1)
    rig.ping(.lost(.unknown), ago: 1.1)
    let fence = try #require(rig.drive.engine.openFence)
    #expect((fence.pings, fence.pingsAnswered) == (3, 2), "sent 0.05, 0.15 and 0.1 s before the delivery")
    #expect(rig.drive.engine.pings.outside == 0)
    var replay = Engine()
    for event in rig.disk.events { _ = replay.handle(event) }
    #expect(replay.openFence == fence)
  }

  @Test("when an event came after two fixes arrived, then the second counts from its delivery: no fence lasts 0 s")
  mutating func twoFixesBeforeAnEvent() throws {
    try rig.startPinging()
    rig.wait(0.3)
    rig.tick(step: .seconds(60))
    rig.wait(0.05)
    rig.fix(0, ago: 0.2)
    rig.wait(0.1)
    rig.fix(100, ago: 0.2)
    rig.wait(0.2)
    rig.fix(200, ago: 0.15)
    #expect(rig.drive.engine.fences.map(\.entered) == [300, 450, 500].map { .start + .milliseconds($0) })
  }

  @Test("when two fixes arrive at the same time, then the second counts a microsecond later: no fence lasts 0 s")
  mutating func twoFixesAtOnce() throws {
    try rig.startPinging()
    rig.wait(1)
    rig.fix(0)
    rig.fix(100)
    rig.wait(0.2)
    rig.fix(200)
    let first = DriveTime.start + .seconds(1)
    #expect(rig.drive.engine.fences.map(\.entered) == [first, first + .microseconds(1), first + .milliseconds(200)])
  }

  @Test("when a session begins in the microsecond of a fix, then it counts from the next one: no fence lasts 0 s")
  mutating func sessionAtOnce() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    rig.wait(1)
    rig.fix(0)
    _ = try rig.grant("T1")
    let event = try #require(
      rig.disk.events.last { if case .session = $0.kind { true } else { false } })
    #expect(event.at == .start + .seconds(1) + .microseconds(1))
  }
}
