import Coverage
import Pinging
import TestSupport
import Testing

@testable import Driving
@testable import NetworkPath
@testable import Positioning

/// Each decision of a drive: an input, and its effects.
struct DriveTests {
  private var rig = DriveRig()

  // MARK: Tests of the control server

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
    #expect(rig.disk.loopUUIDs == [0: "L"])
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
    #expect(rig.status?.warnings.contains("no test from the control server") == true)
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
    #expect(rig.status?.warnings.contains("the ping server cannot be pinged") == true)
    rig.pingTrouble = nil
    rig.wait(2)
    rig.tick()
    try rig.resolve()
    #expect(rig.liveTargets == [1])
    #expect(rig.requests.count == 1)
    rig.tick()
    #expect(rig.status?.warnings.contains("the ping server cannot be pinged") == false)
  }

  @Test("when another test begins, then pings of the one before count until then, and later ones for neither")
  mutating func nextTest() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.ping(.refused(rttNanoseconds: 1))
    rig.feed(.pingsRead)
    #expect(rig.liveTargets.isEmpty, "not one more ping on a refused token")
    _ = try rig.grant("T2")
    try rig.resolve()
    rig.wait(1)
    rig.fix(1)
    let before = rig.drive.engine.pings
    rig.ping(.answered(rttNanoseconds: 5), target: 1, ago: 1.5)
    rig.ping(.answered(rttNanoseconds: 5), target: 1, ago: 0.5)
    rig.ping(.answered(rttNanoseconds: 5), target: 2, ago: 0.5)
    #expect(rig.drive.engine.pings == before + 2)
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

  // MARK: Pings

  @Test("when the ping server refuses the token, then that is logged and in the status until a ping is answered")
  mutating func refused() throws {
    try rig.startPinging()
    rig.ping(.refused(rttNanoseconds: 1))
    #expect(rig.lines.last == "notice: the ping server refuses the token (RE01)")
    rig.tick()
    #expect(rig.status?.warnings.contains("the ping server refuses the token") == true)
    _ = try rig.grant("T2")
    try rig.resolve()
    rig.ping(.answered(rttNanoseconds: 1))
    rig.tick()
    #expect(rig.status?.warnings == [])
    #expect(rig.drive.engine.pings == 1, "a refusal is no outcome")
  }

  @Test("when 30 pings in a row are lost, then another test is requested, while pings go on")
  mutating func lost() throws {
    try rig.startPinging()
    for _ in 0..<29 { rig.ping(.lost(.unknown)) }
    rig.feed(.pingsRead)
    #expect(rig.requests.count == 1)
    rig.ping(.lost(.unknown))
    #expect(rig.requests.count == 1, "pings alone decide nothing")
    rig.feed(.pingsRead)
    #expect(rig.requests.count == 2)
    #expect(rig.liveTargets == [1])
  }

  @Test("when a target has finished, then it is removed, and its pings belong to no test")
  mutating func finished() throws {
    try rig.startPinging()
    rig.feed(.path(.wifi))
    rig.ping(.finished)
    #expect(rig.effects.contains(.removePings(1)))
    rig.ping(.overflow(count: 7))
    #expect(rig.lines.last == "error: dropped 7 ping results: the reader fell behind; they count in no fence")
  }

  @Test("when pings are counted, then the status has those of the last second, and the summary all")
  mutating func tally() throws {
    try rig.startPinging()
    rig.ping(.answered(rttNanoseconds: 30_000_000))
    rig.ping(.lost(.unknown))
    rig.tick()
    #expect(rig.status?.lastSecond.pings == 2)
    rig.wait(1)
    rig.tick()
    #expect(rig.status?.lastSecond.pings == 0)
    let summary = rig.drive.summary(drive: 7, capture: nil, at: rig.now)
    #expect((summary.tally.pings, summary.tally.answered, summary.drive) == (2, 1, 7))
    #expect(summary.silence == nil)
  }

  @Test("when the server is silent for 30 s, then its name is resolved, and the pings go to its new address")
  mutating func redirected() throws {
    try rig.startPinging()
    for _ in 0..<31 {
      rig.wait(1)
      rig.tick()
    }
    #expect(rig.effects.contains(.lookUp(host: "server.example", like: try .sample(1))))
    rig.feed(.lookedUp(host: "server.example", addresses: [try .sample(2)]))
    #expect(rig.effects.contains(.redirectPings(1, to: try .sample(2))))
  }

  // MARK: Network

  @Test("when the link is Wi-Fi, then pings stop at once, and on cellular another test is requested")
  mutating func wifi() throws {
    try rig.startPinging()
    rig.feed(.path(.wifi))
    #expect(rig.liveTargets.isEmpty)
    #expect(rig.requests.count == 1)
    rig.wait(5)
    rig.feed(.path(.cellular))
    #expect(rig.requests.count == 2)
    #expect(rig.disk.events.contains { $0.kind == .path(.wifi) })
  }

  @Test("when the link or its address changes, then the test is not used any more, and the log names the link")
  mutating func otherAddress() throws {
    try rig.startPinging()
    rig.feed(.path(.modem("10.0.0.1")))
    #expect(rig.liveTargets == [1])
    rig.feed(.path(.modem("10.0.0.2")))
    #expect(rig.liveTargets.isEmpty)
    #expect(rig.lines.contains { $0.hasPrefix("notice: the link of the pings has changed:") })
  }

  // MARK: Time

  @Test("when the clock steps, then the log has the step, and the stored start moves, and anchors stay at the server's")
  mutating func clockStep() throws {
    try rig.startPinging()
    rig.wait(1)
    rig.tick(step: .seconds(60))
    #expect(rig.disk.events.last?.kind == .clockSet(by: .seconds(60)))
    #expect(rig.disk.started == .sampleStart.later(by: .seconds(60)))
    #expect(rig.disk.sessions[0]?.anchor == DriveTime.start + .seconds(-60))
    let notes = rig.disk.clockNotes.count
    rig.wait(1)
    rig.tick(step: .seconds(60))
    #expect(rig.disk.clockNotes.count == notes)
  }

  @Test("when 4 s have passed, then the open fence is stored and the log is synced")
  mutating func checkpoint() throws {
    try rig.startPinging()
    rig.fix(0)
    for second in 1...9 {
      rig.wait(1)
      rig.ping(.answered(rttNanoseconds: 1))
      rig.tick()
      #expect(rig.disk.syncs == second / 4)
      #expect(rig.disk.fences[0]?.pings == (second < 4 ? nil : second < 8 ? 4 : 8))
    }
  }

  @Test("when a fence ends, then its event is in the log before it is in the store")
  mutating func logFirst() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    var order: [String] = []
    rig.onEffect = { effect in
      switch effect {
      case .disk(.append(let event, _)): if case .fix = event.kind { order.append("fix") }
      case .disk(.seal): order.append("seal")
      case .disk(.write(let write)): order.append("fences \(write.fences.map(\.number))")
      default: break
      }
    }
    rig.fix(100)
    #expect(order == ["fix", "seal", "fences [0]"])
    #expect(rig.disk.fences[0]?.exited == rig.now)
  }

  // MARK: End

  @Test("when it is stopped, then pings stop first, its last fence is stored, and then its end")
  mutating func stop() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(3)
    rig.feed(.stop)
    #expect(rig.drive.isOver && rig.liveTargets.isEmpty)
    #expect(rig.disk.fences[0]?.exited == rig.now && rig.disk.end == nil)
    rig.feed(.ended)
    #expect(rig.disk.end?.reason == .user && rig.disk.end?.at == rig.now)
    #expect(rig.drive.isSaved)
    let effects = rig.effects.count
    rig.tick()
    rig.fix(500)
    rig.feed(.stop)
    #expect(rig.effects.count == effects, "nothing follows the end")
  }

  @Test("when its longest duration is over, then it stops by itself, and the log has the reason")
  mutating func duration() throws {
    rig = DriveRig { $0.parameters.maximumDuration = .seconds(5) }
    try rig.startPinging()
    rig.fix(0)
    rig.wait(6)
    rig.tick()
    #expect(rig.drive.isOver)
    #expect(rig.disk.events.last?.kind == .stop(.duration))
    #expect(rig.drive.summary(drive: 1, capture: nil, at: rig.now).reason == .duration)
  }

  @Test("when the disk refuses the last fence, then the drive has not ended in the store until that can be written")
  mutating func refusedEnd() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.disk.storeFailure = ModelDisk.failing
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(!rig.drive.isSaved && rig.disk.end == nil)
    #expect(rig.drive.journal.unsavedFenceCount == 1)
    rig.disk.storeFailure = nil
    rig.feed(.ended)
    #expect(rig.drive.isSaved && rig.disk.fences[0]?.exited == rig.now)
  }

  @Test("when no ping was sent, then the summary names the reason that lasted longest")
  mutating func silence() {
    rig.feed(.began)
    rig.feed(.path(.wifi))
    for _ in 0..<3 {
      rig.wait(1)
      rig.tick()
    }
    rig.feed(.stop)
    rig.feed(.ended)
    #expect(
      rig.drive.summary(drive: 1, capture: nil, at: rig.now).silence == "the route left by wlan0, a Wi-Fi link")
  }

  // MARK: Status

  @Test("when the receiver's daemon is away, then the status names that beside the missing position")
  mutating func receiver() {
    rig.feed(.began)
    rig.feed(.positioning(.status(.disconnected(reason: "refused"))))
    rig.wait(4)
    rig.tick()
    #expect(rig.status?.warnings.first == "waiting for GPS (no gpsd)")
    rig.feed(.positioning(.status(.noFix)))
    rig.tick()
    #expect(rig.status?.warnings.first == "waiting for GPS (no gpsd)", "the cause, not its consequence")
    rig.feed(.positioning(.status(.connected(release: nil))))
    rig.feed(.positioning(.status(.noFix)))
    rig.tick(isCaptureInTrouble: true)
    #expect(rig.status?.warnings.first == "waiting for GPS (no position)")
    #expect(rig.status?.warnings.last == "the packet capture is not complete")
  }

  @Test("when the disk recovers with a checkpoint, then the status of the same second is without trouble")
  mutating func diskTrouble() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.disk.storeFailure = ModelDisk.failing
    rig.wait(4)
    rig.tick()
    #expect(rig.status?.diskTrouble == "store: the disk fails")
    #expect(rig.status?.unsavedFences == 1)
    rig.disk.storeFailure = nil
    rig.wait(4)
    rig.tick()
    #expect(rig.status?.diskTrouble == nil && rig.status?.unsavedFences == 0)
  }
}
