import Coverage
import TestSupport
import Testing

@testable import Driving

/// A drive on a host that sleeps: the time without pings is a gap and no loss.
struct DriveSleepTests {
  private var rig = DriveRig()

  @Test("when the host sleeps, then pings stop, the open fence is stored and the log is synced at once")
  mutating func sleeps() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.ping(.answered(rttNanoseconds: 1), ago: 0.5)
    #expect(rig.disk.fences[0] == nil)
    let syncs = rig.disk.syncs
    rig.feed(.sleep)
    #expect(rig.liveTargets.isEmpty)
    #expect(rig.disk.fences[0]?.pings == 1)
    #expect(rig.disk.syncs == syncs + 1)
    rig.feed(.sleep)
    #expect(rig.lines.filter { $0 == "notice: the host sleeps: no pings until it is awake" }.count == 1)
  }

  @Test("when pings sent before the sleep get their verdicts, then they count, and the flush stores them")
  mutating func verdicts() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.feed(.sleep)
    rig.wait(0.2)
    rig.ping(.answered(rttNanoseconds: 1), ago: 0.5)
    rig.feed(.flush)
    #expect(rig.disk.fences[0]?.pings == 1)
  }

  @Test("when a slot of the sleep is reported lost, then it counts in no fence")
  mutating func gap() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.ping(.answered(rttNanoseconds: 1), ago: 0.5)
    rig.feed(.sleep)
    rig.wait(600)
    rig.ping(.lost(.unknown), ago: 300)
    rig.feed(.flush)
    #expect(rig.drive.engine.fences.map(\.pings).reduce(0, +) == 1)
  }

  @Test("when the host is awake, then a test is requested, and pings go on; before that, no test is requested")
  mutating func wakes() throws {
    try rig.startPinging()
    rig.feed(.sleep)
    let requests = rig.requests.count
    for _ in 1...20 {
      rig.wait(1)
      rig.tick()
    }
    #expect(rig.requests.count == requests)
    rig.feed(.wake)
    rig.feed(.wake)
    #expect(rig.requests.count == requests + 1)
    _ = try rig.grant("T2")
    try rig.resolve()
    #expect(rig.liveTargets.count == 1)
    #expect(rig.lines.filter { $0 == "notice: the host is awake: the drive goes on" }.count == 1)
  }
}
