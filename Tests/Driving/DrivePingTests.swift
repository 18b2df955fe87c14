import Coverage
import Glibc
import Submission
import TestSupport
import Testing

@testable import Driving
@testable import Networking
@testable import Pinging
@testable import Positioning

/// A drive, its pings and their link: an input, and its effects.
struct DrivePingTests {
  private var rig = DriveRig()

  // MARK: Pings

  @Test("when the ping server refuses the token, then that is logged and in the status until a ping is answered")
  mutating func refused() throws {
    try rig.startPinging()
    rig.ping(.refused(rttNanoseconds: 1))
    #expect(rig.lines.last == "notice: the ping server refuses the token (RE01)")
    rig.tick()
    #expect(rig.status?.warnings.contains("the ping server refuses the test's token") == true)
    _ = try rig.grant("T2")
    try rig.resolve()
    rig.ping(.answered(rttNanoseconds: 1))
    rig.tick()
    #expect(rig.status?.warnings == [])
    #expect(rig.drive.engine.pings.all == 1, "a refusal is no outcome")
  }

  @Test("when 30 pings in a row are lost, then another test is requested, while pings go on")
  mutating func lost() throws {
    try rig.startPinging()
    for _ in 0..<29 { rig.ping(.lost(.unknown)) }
    rig.feed(.pingsRead)
    #expect(rig.requests.count == 1)
    rig.ping(.lost(.unknown))
    #expect(rig.requests.count == 1, "a ping alone requests no test")
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

  // MARK: Pings that are not sent

  private func unsent(_ code: Int32) -> PingEvent.Kind { .notSent(SendFailure(code: code)) }

  @Test("when the firewall refuses pings, then they are not measured: no loss, no other test, one line with the reason")
  mutating func firewall() throws {
    try rig.startPinging()
    for _ in 0..<40 { rig.ping(unsent(EPERM)) }
    rig.tick()
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (0, 40))
    #expect(rig.requests.count == 1)
    let reason = "the host's firewall or a route of it forbids the ping (Operation not permitted)"
    #expect(
      rig.lines.filter { $0.contains(reason) } == [
        "warning: pings are not sent, and count as not measured: \(reason)"
      ])
    #expect(rig.status?.warnings == ["pings are not sent: \(reason)"])
    let summary = rig.drive.summary(drive: 1, capture: nil, at: rig.now)
    #expect(summary.silence == reason && summary.tally.unsent == 40 && summary.unsentReason == reason)
    rig.ping(.answered(rttNanoseconds: 1))
    rig.tick()
    #expect(rig.status?.warnings == [])
  }

  @Test("when every second ping cannot be sent, then the log has one line about it, and each is counted")
  mutating func alternating() throws {
    try rig.startPinging()
    for _ in 0..<50 {
      rig.ping(unsent(EPERM))
      rig.ping(.answered(rttNanoseconds: 1))
    }
    #expect(rig.lines.count { $0.contains("pings are not sent") } == 1)
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (50, 50))
  }

  @Test(
    "when the modem's link is down, then pings that cannot be sent are lost; with another IP version only the probe pauses"
  )
  mutating func noNetwork() throws {
    try rig.startPinging()
    rig.feed(.path(.offline))
    rig.ping(unsent(ENETUNREACH))
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (1, 0))
    // The test ends with the change of the network: its pings do not count any more.
    rig.feed(.path(PathReading(link: Link(interface: "wwan0", kind: .modem), unreached: "127.0.0.1")))
    #expect(rig.liveTargets.isEmpty && rig.requests.count == 2)
    #expect(rig.drive.engine.pause == "127.0.0.1 is an IPv4 address, and this network has IPv6 only")
  }

  @Test(
    "when an ICMP error comes from this host's own address, then the ping is not measured; from a router it is lost")
  mutating func ownError() throws {
    try rig.startPinging()
    rig.feed(.path(.modem("10.0.0.1")))
    for from in ["10.0.0.1", "10.0.0.254"] {
      let sender = try #require(PingAddress(numeric: from, port: 0))
      rig.feed(
        .ping(
          PingEvent(
            target: 1, kind: .icmpError(type: 3, code: 1), number: 1, sequence: 1, slot: rig.boot, sent: rig.boot,
            occurred: rig.boot, from: sender)))
    }
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (1, 1))
  }

  private var pauses: [String?] {
    rig.disk.events.compactMap { if case .unmeasured(let reason) = $0.kind { .some(reason) } else { nil } }
  }

  @Test("when a fence opens while the first answer to a request is awaited, then it is not measured, for 5 s")
  mutating func awaited() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    rig.wait(0.5)
    rig.fix(0)
    rig.tick()
    #expect(pauses == [DriveStatus.testAwaited])
    rig.wait(4)
    rig.tick()
    rig.fix(100)
    rig.wait(0.5)
    rig.tick()
    #expect(pauses == [DriveStatus.testAwaited, nil], "a request without an answer is how a dead zone begins")
    rig.wait(1)
    rig.fix(200)
    rig.feed(.stop)
    #expect(rig.drive.engine.fences.map(\.isSubmittable) == [false, false, false])
  }

  @Test("when a test ends in service and the control server is silent, then that is no dead zone")
  mutating func endedInService() throws {
    try rig.startPinging("T1", #""max_coverage_measurement_seconds": 20"#)
    rig.fix(0)
    for _ in 0..<30 { rig.ping(.answered(rttNanoseconds: 1)) }
    rig.wait(20)
    rig.tick()
    rig.wait(6)
    rig.tick()
    #expect(rig.drive.engine.pause == DriveStatus.testEnded)
  }

  @Test(
    "when a test is granted after a request without an answer, then the wait for its server's address is no dead zone")
  mutating func grantedAfterSilence() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    rig.fix(0)
    rig.failRequest(TestTrouble("no answer"))
    rig.wait(2)
    rig.tick()
    #expect(rig.drive.engine.pause == nil)
    _ = try rig.grant("T1")
    rig.tick()
    #expect(rig.drive.engine.pause == DriveStatus.addressUnknown)
  }

  @Test("when the link changes often, then the time until the next request is no dead zone")
  mutating func flappingLink() throws {
    rig.feed(.path(.modem("10.0.0.100")))
    try rig.startPinging()
    rig.fix(0)
    for address in 1...9 {
      rig.wait(5)
      rig.feed(.path(.modem("10.0.0.\(address)")))
      if try rig.grant("T\(address)") == nil { break }
      try rig.resolve()
    }
    rig.fix(100)
    // The last change has not led to a request yet.
    #expect((3..<9).contains(rig.requests.count) && rig.liveTargets.isEmpty)
    #expect(rig.drive.engine.pause == DriveStatus.testAwaited)
  }

  @Test("when the disk hangs and the link changes meanwhile, then fences from then on are not measured")
  mutating func changeWhileDiskHangs() throws {
    rig.feed(.path(.modem("10.0.0.1")))
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.feed(.path(.modem("10.0.0.2")), decides: false)
    for place in 1...4 {
      rig.wait(2)
      rig.fix(Double(place) * 100, decides: false)
    }
    rig.tick()
    #expect(rig.liveTargets.isEmpty && rig.requests.count == 2)
    #expect(rig.drive.engine.fences.dropFirst().map(\.isSubmittable) == [false, false, false, false])
  }

  @Test("when the former link had no answer, then the first wait on the new one is no dead zone")
  mutating func troubleOfFormerLink() throws {
    try rig.startPinging()
    rig.feed(.path(.modem("10.0.0.1")))
    rig.fix(0)
    rig.failRequest(TestTrouble("no answer"))
    rig.tick()
    #expect(rig.drive.engine.pause == nil)
    rig.wait(20)
    rig.feed(.path(.modem("10.0.0.2")))
    rig.wait(4)
    rig.tick()
    #expect(rig.drive.engine.pause == DriveStatus.testAwaited)
    rig.wait(2)
    rig.tick()
    #expect(rig.drive.engine.pause == nil, "now the new one has no answer either")
  }

  @Test("when a name is looked up at a renewal, then its known address serves if that fails; not on another link")
  mutating func nameLostAtRenewal() throws {
    func fallbacks() -> [PingAddress?] {
      rig.effects.compactMap { if case .resolve(_, _, let known) = $0 { .some(known) } else { nil } }
    }
    rig.feed(.path(.modem("10.0.0.1")))
    try rig.startPinging("T1", #""max_coverage_measurement_seconds": 20"#)
    for _ in 0..<30 { rig.ping(.answered(rttNanoseconds: 1)) }
    rig.wait(19)
    rig.tick()
    _ = try rig.grant("T2")
    #expect(fallbacks() == [nil, try .sample()])
    try rig.resolve()
    rig.wait(1)
    rig.feed(.path(.modem("10.0.0.2")))
    _ = try rig.grant("T3")
    #expect(fallbacks() == [nil, try .sample(), nil])
  }

  @Test("when a test has ended and the next one's ping server has no address, then that is the reason")
  mutating func endedWithoutAddress() throws {
    try rig.startPinging("T1", #""max_coverage_measurement_seconds": 20"#)
    rig.fix(0)
    for _ in 0..<30 { rig.ping(.answered(rttNanoseconds: 1)) }
    rig.wait(20)
    rig.tick()
    _ = try rig.grant("T2")
    rig.tick()
    #expect(rig.drive.engine.pause == DriveStatus.addressUnknown)
    let (_, generation) = try #require(rig.latestResolve)
    rig.feed(.unresolved(reason: "no such name", for: generation))
    rig.tick()
    #expect(rig.drive.engine.pause == "no such name")
  }

  @Test("when the token is refused and the next request has no answer, then a dead zone is no pause")
  mutating func refusedThenSilent() throws {
    try rig.startPinging()
    rig.fix(0)
    rig.ping(.refused(rttNanoseconds: 1))
    rig.feed(.pingsRead)
    rig.tick()
    #expect(pauses.last == DriveStatus.tokenRefused)
    rig.wait(5.1)
    rig.tick()
    #expect(pauses.suffix(2) == [DriveStatus.tokenRefused, nil])
    let known = pauses.count
    rig.failRequest(TestTrouble("no answer"))
    rig.wait(1)
    rig.tick()
    #expect(pauses.count == known, "the refusal was before the silence")
  }

  @Test(
    "when the ping server's host says that its port is closed, then its silence is not measured; a router's word is loss"
  )
  mutating func closedPort() throws {
    try rig.startPinging()
    rig.fix(0)
    func unreachable(from host: String) throws -> PingEvent {
      PingEvent(
        target: rig.lastTarget, kind: .icmpError(type: 3, code: 3), number: 1, sequence: 1, slot: rig.boot,
        sent: rig.boot,
        occurred: rig.boot, from: PingAddress(numeric: host, port: 0))
    }
    rig.wait(0.1)
    rig.feed(.ping(try unreachable(from: "192.0.2.200")))
    rig.ping(.lost(.up))
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (2, 0))
    rig.feed(.ping(try unreachable(from: "127.0.0.1")))
    for _ in 0..<20 {
      rig.wait(0.1)
      rig.ping(.lost(.up))
    }
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (2, 21))
    rig.wait(0.1)
    rig.ping(.answered(rttNanoseconds: 1))
    rig.ping(.lost(.up))
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (4, 21))
  }

  @Test("when the server answers but no ping can begin, then the log says from when to when the probe measured nothing")
  mutating func pause() throws {
    rig.pingTrouble = "no such interface"
    try rig.startPinging()
    rig.tick()
    rig.pingTrouble = nil
    rig.wait(2)
    rig.tick()
    try rig.resolve()
    rig.tick()
    #expect(pauses == [DriveStatus.addressUnknown, "cannot ping 127.0.0.1:9: no such interface", nil])
  }

  @Test("when the server granted a test and its ping server's name finds no answer, then no fence is a dead zone")
  mutating func noAddress() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    _ = try rig.grant("T1")
    for second in 0..<6 {
      rig.wait(1)
      rig.fix(Double(second) * 40)
      rig.tick()
    }
    rig.feed(.stop)
    #expect(rig.drive.engine.fences.count >= 3)
    #expect(rig.drive.engine.fences.allSatisfy { !$0.isSubmittable })
    #expect(rig.drive.summary(drive: 1, capture: nil, at: rig.now).silence == DriveStatus.addressUnknown)
  }

  @Test("when no answer comes from the control server, then a dead zone is possible, and the probe does not pause")
  mutating func deadZone() {
    rig.feed(.began)
    rig.tick()
    rig.failRequest(TestTrouble(ServerFailure.noAnswer("x: no answer within 30 s")))
    rig.tick()
    #expect(rig.drive.engine.pause == nil)
    rig.wait(2)
    rig.tick()
    rig.failRequest(TestTrouble(ServerFailure.unreachable("x: Connection refused", mayHaveNetwork: true)))
    rig.tick()
    #expect(rig.drive.engine.pause?.contains("refused") == true)
    rig.wait(4)
    rig.tick()
    rig.failRequest(TestTrouble(ServerFailure.notTheServer(status: 200, found: "HTML")))
    rig.tick()
    #expect(rig.status?.warnings.contains { $0.contains("captive portal") } == true)
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
}
