import Coverage
import TestSupport
import Testing

@testable import Driving

/// A drive during a speed test.
struct SpeedTestInDriveTests {
  @Test(
    "when pings are to pause and a speed test begins, then they stop; after it, the drive requests its next test")
  func pause() throws {
    var rig = DriveRig()
    try rig.startPinging()
    rig.fix(0)
    let requests = rig.requests.count
    rig.feed(.speedTestBegan)
    #expect(rig.liveTargets.isEmpty)
    for _ in 1...10 {
      rig.wait(1)
      rig.tick()
    }
    #expect(rig.liveTargets.isEmpty && rig.requests.count == requests)
    rig.feed(.speedTestEnded)
    rig.wait(0.9)
    rig.feed(.pingsRead)
    #expect(rig.liveTargets.isEmpty && rig.requests.count == requests, "the link still has the queue of the test")
    #expect(rig.drive.engine.pause == "a speed test runs")
    rig.wait(0.1)
    rig.feed(.pingsRead)
    #expect(rig.requests.count == requests + 1)
    _ = try rig.grant("T2")
    try rig.resolve()
    #expect(!rig.liveTargets.isEmpty)
  }

  @Test(
    "when a ping from before the test is answered during the pause, then it counts, and no slot of the pause is a loss")
  func verdicts() throws {
    var rig = DriveRig()
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.feed(.speedTestBegan)
    rig.wait(0.2)
    rig.ping(.answered(rttNanoseconds: 1), ago: 0.5)
    rig.wait(5)
    rig.ping(.lost(.unknown), ago: 3)
    #expect(rig.drive.engine.fences.map(\.pings).reduce(0, +) == 1)
  }

  @Test("when pings go on beside a test, then they do not stop, and the drive has the delays without and with load")
  func goOn() throws {
    var rig = DriveRig({ $0.pausesForTests = false })
    try rig.startPinging()
    rig.fix(0)
    rig.wait(5)
    rig.ping(.answered(rttNanoseconds: 20_000_000), ago: 0.5)
    rig.feed(.speedTestBegan)
    rig.feed(.speedTestLoads(.download))
    #expect(!rig.liveTargets.isEmpty)
    rig.wait(2)
    rig.ping(.answered(rttNanoseconds: 120_000_000), ago: 0.5)
    rig.feed(.speedTestLoads(nil))
    rig.feed(.speedTestEnded)
    rig.ping(.answered(rttNanoseconds: 130_000_000), ago: 1)
    #expect(rig.requests.count == 1)
    let delays = rig.drainDelays()
    #expect(delays.map(\.part) == [.idle, .download])
    #expect(delays.last?.pings == 2 && delays.last?.percentile95 == nil, "two pings have no 95th percentile")
    #expect(rig.drive.engine.fences.map(\.pings).reduce(0, +) == 3, "fences count them all")
  }

  @Test(
    "when QoS tests follow the measurement, then the pings resume between the two, and the next test has its idle pings"
  )
  func qos() throws {
    var rig = DriveRig()
    try rig.startPinging()
    rig.fix(0)
    rig.feed(.speedTestBegan)
    rig.wait(10)
    rig.feed(.speedTestEnded)
    rig.wait(1.1)
    #expect(rig.drainDelays().isEmpty)
    rig.feed(.pingsRead)
    #expect(rig.requests.count == 2)
    _ = try rig.grant("T2")
    try rig.resolve()
    rig.feed(.speedTestBegan)
    #expect(rig.liveTargets.isEmpty)
    rig.wait(60)
    rig.feed(.speedTestEnded)
    rig.wait(1)
    rig.feed(.pingsRead)
    _ = try rig.grant("T3")
    try rig.resolve()
    rig.wait(5)
    rig.ping(.answered(rttNanoseconds: 1), ago: 0.5)
    rig.feed(.speedTestBegan)
    rig.feed(.speedTestEnded)
    #expect(rig.drainDelays().map(\.pings) == [1])
  }

  @Test("when a second test is announced, or an end without a beginning, then nothing changes")
  func repeated() throws {
    var rig = DriveRig()
    try rig.startPinging()
    rig.feed(.speedTestEnded)
    #expect(!rig.liveTargets.isEmpty)
    rig.feed(.speedTestBegan)
    rig.feed(.speedTestBegan)
    #expect(rig.lines.filter { $0.contains("a speed test begins") }.count == 1)
    rig.feed(.speedTestEnded)
    rig.feed(.speedTestEnded)
    #expect(rig.lines.filter { $0.contains("the speed test has ended") }.count == 1)
  }
}
