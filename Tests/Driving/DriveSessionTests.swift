import Coverage
import Pinging
import TestSupport
import Testing

@testable import Driving
@testable import Networking
@testable import Positioning

/// A drive and the tests of the control server: an input, and its effects.
struct DriveSessionTests {
  private var rig = DriveRig()

  @Test("when a drive begins, then its first session is stored, and one test is requested")
  mutating func began() {
    rig.feed(.began)
    #expect(rig.disk.sessions[0]?.testUUID == nil && rig.disk.sessions.count == 1)
    #expect(rig.disk.clockNotes.count == 1)
    #expect(rig.requests.isEmpty)
    for _ in 0..<3 { rig.feed(.pingsRead) }
    #expect(rig.requests.map(\.generation) == [1])
    #expect(rig.requests.first?.time == .sampleStart)
  }

  @Test("when no clock can be right, then no test is requested until one is")
  mutating func untrustedClock() {
    rig = DriveRig(isClockTrusted: false)
    rig.feed(.began)
    rig.tick(isTrusted: false)
    #expect(rig.requests.isEmpty)
    #expect(rig.status?.warnings.contains("the clock is not set, not measuring") == true)
    rig.wait(1)
    rig.tick()
    #expect(rig.requests.count == 1)
  }

  @Test("when the link becomes Wi-Fi while no clock can be right, then the pings stop, and another test follows later")
  mutating func wifiWithoutClock() throws {
    try rig.startPinging()
    rig.wait(1)
    rig.tick(isTrusted: false)
    #expect(rig.liveTargets == [1], "a clock alone stops no pings")
    rig.feed(.path(.wifi))
    #expect(rig.liveTargets.isEmpty)
    rig.wait(1)
    rig.feed(.path(.cellular))
    rig.tick(isTrusted: false)
    #expect(rig.liveTargets.isEmpty && rig.requests.count == 1)
    rig.wait(60)
    rig.tick()
    _ = try rig.grant("T2")
    try rig.resolve()
    #expect(rig.liveTargets == [2])
  }

  @Test("when a test is granted, then the session has it before its server is resolved, and pings begin after that")
  mutating func granted() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    rig.wait(2)
    _ = try rig.grant("T1", "\"loop_uuid\": \"L\"")
    #expect(rig.disk.sessions[0]?.testUUID == "T1")
    #expect(rig.disk.sessions[0]?.anchor == .start, "the server relates the fences to the time of the request")
    #expect(rig.disk.sessions[0]?.loopUUID == "L")
    #expect(rig.liveTargets.isEmpty)
    try rig.resolve()
    #expect(rig.liveTargets == [1])
    guard case .beginPings(let start)? = rig.effects.first(where: { if case .beginPings = $0 { true } else { false } })
    else {
      Issue.record("no pings")
      return
    }
    #expect(start.firstSlot == rig.boot + 20_000_000)
    #expect(start.target.awaitsInterface)
    #expect(rig.lines.last == "info: test T1: pinging 127.0.0.1:9")
  }

  @Test("when a request fails, then the reason is logged once, stands in the status, and another request follows")
  mutating func requestFailed() {
    rig.feed(.began)
    for second in 0..<4 {
      rig.tick()
      #expect(rig.request != nil || second > 0)
      rig.failRequest(TestTrouble("the server is busy"))
      rig.wait(2)
    }
    #expect(
      rig.lines.filter { $0.contains("busy") } == ["warning: the server is busy; the drive goes on, trying again"])
    #expect(rig.status?.warnings.contains("the server is busy") == true)
    #expect(rig.requests.count > 1)
  }

  @Test("when the server does not answer, then the request is cancelled before the next one")
  mutating func unanswered() throws {
    try rig.startPinging()
    rig.ping(.refused(rttNanoseconds: 1))
    rig.feed(.pingsRead)
    #expect(rig.requests.count == 2)
    rig.wait(14)
    rig.tick()
    #expect(rig.requests.count == 2)
    rig.wait(2)
    rig.tick()
    #expect(rig.requests.count == 3)
    let order = rig.effects.compactMap { effect -> String? in
      switch effect {
      case .requestTest: "request"
      case .cancelRequest: "cancel"
      default: nil
      }
    }
    #expect(order == ["request", "request", "cancel", "request"])
    #expect(rig.lines.contains { $0.contains("the control server has not answered within 15s") })
  }

  @Test("when pings cannot begin, then the test waits, and is used without another request")
  mutating func unused() throws {
    rig.pingTrouble = "no such interface"
    try rig.startPinging()
    #expect(rig.liveTargets.isEmpty)
    #expect(rig.lines.last == "warning: cannot ping 127.0.0.1:9: no such interface; the drive goes on, trying again")
    rig.tick()
    #expect(rig.status?.warnings.contains("cannot ping 127.0.0.1:9: no such interface") == true)
    rig.pingTrouble = nil
    rig.wait(2)
    rig.tick()
    try rig.resolve()
    #expect(rig.liveTargets == [1])
    #expect(rig.requests.count == 1)
    rig.tick()
    #expect(rig.status?.warnings.isEmpty == true)
  }

  @Test("when another test begins, then earlier pings of the previous one still count, and its later pings do not")
  mutating func nextTest() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.ping(.refused(rttNanoseconds: 1))
    rig.feed(.pingsRead)
    #expect(rig.liveTargets.isEmpty, "no more pings on a refused token")
    _ = try rig.grant("T2")
    try rig.resolve()
    rig.wait(1)
    rig.fix(1)
    let before = rig.drive.engine.pings.all
    rig.ping(.answered(rttNanoseconds: 5), target: 1, ago: 1.5)
    rig.ping(.answered(rttNanoseconds: 5), target: 1, ago: 0.5)
    rig.ping(.answered(rttNanoseconds: 5), target: 2, ago: 0.5)
    #expect(rig.drive.engine.pings.all == before + 2)
    #expect(rig.disk.sessions[0]?.finalized != nil)
    #expect(rig.disk.sessions[1]?.testUUID == "T2")
  }

  @Test("when a session has 400 fences, then another test is requested, while pings go on")
  mutating func fullSession() throws {
    try rig.startPinging()
    for number in 0..<400 {
      rig.wait(1)
      rig.fix(Double(number) * 40)
    }
    #expect(rig.requests.count == 2)
    #expect(rig.liveTargets == [1])
  }

  @Test("when the answer has oddities, then each is logged once")
  mutating func oddities() throws {
    rig = DriveRig { $0.pingFamily = .ipv4 }
    try rig.startPinging("T1", "\"ip_version\": 6")
    rig.ping(.refused(rttNanoseconds: 1))
    rig.feed(.pingsRead)
    _ = try rig.grant("T2", "\"ip_version\": 6")
    #expect(rig.lines.filter { $0.contains("pings.ip-version is 4") }.count == 1)
  }
}
