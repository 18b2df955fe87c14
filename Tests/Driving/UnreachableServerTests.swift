import Coverage
import Submission
import TestSupport
import Testing

@testable import Driving
@testable import Networking
@testable import Pinging

/// A drive whose pings cannot reach their server: by a link that leads nowhere, or by one of the IP versions.
struct UnreachableServerTests {
  private var rig = DriveRig()

  @Test(
    "when the link leads nowhere on this host, then the probe pauses, unless the modem searches: pings there are no loss"
  )
  mutating func deadEnd() throws {
    let tunnel = Link(interface: "tun0", kind: .tunnel, isRunning: false, isDeadEnd: true)
    try rig.startPinging()
    rig.fix(0)
    rig.wait(1)
    rig.feed(.path(PathReading(link: tunnel).declared(as: .cellular)))
    #expect(rig.liveTargets.isEmpty)
    // It was sent just before the reading.
    rig.ping(.lost(.unknown), ago: 0.1)
    #expect((rig.drive.engine.pings.all, rig.drive.engine.pings.unsent) == (0, 1))
    for _ in 0..<20 {
      rig.wait(1)
      rig.tick()
    }
    #expect(rig.requests.count == 1, "no answer could come")
    #expect(rig.drive.engine.pause == "tun0 leads nowhere: on this host, nothing is behind it")
    #expect(rig.status?.warnings.contains("tun0 leads nowhere: on this host, nothing is behind it") == true)
    var modem = ModemReading()
    modem.registration = .searching
    rig.feed(.radio(RadioReading(modem: modem)))
    rig.tick()
    #expect(rig.drive.engine.pause == nil, "a dead zone: the VPN has died with its network")
    rig.feed(.path(.cellular))
    #expect(rig.requests.count == 2)
  }

  @Test(
    "when no ping of a test is answered, then the next test is requested by the other IP version; after a failure by either"
  )
  mutating func otherVersion() throws {
    func lose() {
      for _ in 0..<30 {
        // Longer than any wait between two replacements.
        rig.wait(4.5)
        rig.ping(.lost(.unknown))
      }
      rig.feed(.pingsRead)
    }
    try rig.startPinging()
    rig.ping(.answered(rttNanoseconds: 1))
    lose()
    #expect(rig.requests.map(\.family) == [nil, nil], "a dead zone, as far as these pings show")
    _ = try rig.grant("T2")
    try rig.resolve()
    lose()
    #expect(rig.requests.last?.family == .ipv6 && rig.liveTargets == [2])
    rig.failRequest(TestTrouble("the control server has no IPv6 address"))
    rig.ping(.answered(rttNanoseconds: 1))
    lose()
    #expect(rig.requests.last?.family == nil && rig.requests.count == 4, "though the old test works again")
    _ = try rig.grant("T3")
    try rig.resolve()
    lose()
    #expect(rig.requests.last?.family == .ipv6 && rig.requests.count == 5)
    _ = try rig.grant("T4")
    let (grant, generation) = try #require(rig.latestResolve)
    rig.feed(.resolved(try #require(PingAddress(numeric: "2001:db8::1", port: 4440)), grant, for: generation))
    rig.ping(.answered(rttNanoseconds: 1))
    lose()
    #expect(rig.requests.last?.family == .ipv6, "that version works on this link, as far as is known")
    _ = try rig.grant("T5")
    try rig.resolve()
    lose()
    #expect(rig.requests.last?.family == .ipv6)
    _ = try rig.grant("T6")
    try rig.resolve()
    rig.ping(.answered(rttNanoseconds: 1))
    lose()
    #expect(rig.requests.last?.family == nil, "the request by that version led to the same one again")
    rig.feed(.path(.wifi))
    rig.wait(20)
    rig.feed(.path(.cellular))
    #expect(rig.requests.last?.family == nil, "another link")
  }

  @Test("when NAT64 goes away, then the silent test ends, and the probe pauses until the next one has an address")
  mutating func noNAT64() throws {
    try rig.startPinging()
    rig.fix(0)
    for _ in 0..<30 {
      rig.wait(0.1)
      rig.ping(.lost(.unknown))
    }
    rig.feed(.pingsRead)
    _ = try rig.grant("T2")
    let generation = try #require(rig.latestResolve).1
    rig.feed(.unresolved(reason: "no NAT64", for: generation, endsSilent: true))
    #expect(rig.liveTargets.isEmpty && rig.drive.engine.pause == "no NAT64")
    rig.wait(2)
    rig.tick()
    try rig.resolve()
    #expect(rig.liveTargets == [2] && rig.requests.count == 2, "with the test that waits")
    rig.tick()
    #expect(rig.drive.engine.pause == nil)
  }
}
