import Coverage
import Foundation
import TestSupport
import Testing

@testable import Driving
@testable import Networking
@testable import Pinging
@testable import Settings

/// A drive to the user's own target: an input, and its effects.
struct TargetDriveTests {
  private static let icmp = DriveTarget(.icmp, host: "target.example")
  private var rig = DriveRig { $0.target = TargetPings(TargetDriveTests.icmp) }

  private static func rig(_ kind: DriveTarget.Kind, isClockTrusted: Bool = true) -> DriveRig {
    DriveRig(
      { options in
        options.target = TargetPings(
          DriveTarget(kind, host: "192.0.2.9", port: kind == .icmp ? nil : 4440), secret: Array("demo-secret".utf8))
      }, isClockTrusted: isClockTrusted)
  }

  private var starts: [PingStart] {
    rig.effects.compactMap { if case .beginPings(let start) = $0 { start } else { nil } }
  }

  private mutating func startPinging() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    try rig.resolve()
  }

  @Test("when a drive with a target begins, then its address is looked up, and no control server is asked")
  mutating func begins() throws {
    rig.feed(.began)
    rig.feed(.pingsRead)
    #expect(rig.requests.isEmpty)
    #expect(rig.latestResolve?.0.host == "target.example" && rig.latestResolve?.0.port == 0)
    try rig.resolve()
    #expect(rig.liveTargets == [1])
    #expect(
      rig.lines.last == "info: kept here and not submitted: the pings go to icmp target.example: pinging 127.0.0.1:9")
    for _ in 0..<30 {
      rig.wait(1)
      rig.ping(.answered(rttNanoseconds: 20_000_000))
      rig.tick()
    }
    #expect(rig.requests.isEmpty && starts.count == 1)
    #expect(rig.disk.sessions.count == 1 && rig.disk.sessions[0]?.testUUID == nil)
  }

  @Test(
    "when pings begin, then they are of the target's protocol",
    arguments: [(.icmp, .icmp), (.udpEcho, .udpEcho)] as [(DriveTarget.Kind, PingTarget.Echo)])
  mutating func protocols(kind: DriveTarget.Kind, echo: PingTarget.Echo) throws {
    rig = Self.rig(kind)
    try startPinging()
    #expect(starts.map(\.target.echo) == [echo])
  }

  @Test("when the target speaks RTR, then the token is one of the secret, for the present time")
  mutating func token() throws {
    rig = Self.rig(.rtr)
    rig.wait(2)
    try startPinging()
    let seconds = UInt32(WallTime.sampleStart.milliseconds / 1000 + 2)
    let expected = PingToken.bytes(
      secret: Array("demo-secret".utf8), unixSeconds: seconds, address: [UInt8](repeating: 0, count: 16))
    #expect(starts.map(\.target.echo) == [.rtr(token: expected)])
  }

  @Test("when no clock can be right, then a plain echo is sent all the same, and a token is not made")
  mutating func untrustedClock() throws {
    rig = Self.rig(.udpEcho, isClockTrusted: false)
    try startPinging()
    #expect(rig.liveTargets == [1])
    rig.tick(isTrusted: false)
    #expect(rig.status?.warnings.contains(DriveStatus.clockNotSet) == false)
    rig = Self.rig(.rtr, isClockTrusted: false)
    rig.feed(.began)
    rig.tick(isTrusted: false)
    #expect(rig.latestResolve == nil)
    #expect(rig.status?.warnings.contains(DriveStatus.clockNotSet) == true)
  }

  @Test("when many pings in a row are lost, then the name is looked up again, and the old pings go on meanwhile")
  mutating func silence() throws {
    try startPinging()
    for _ in 0..<30 {
      rig.wait(0.1)
      rig.ping(.lost(.unknown))
    }
    rig.feed(.pingsRead)
    #expect(rig.latestResolve?.1 == 2 && rig.liveTargets == [1])
    #expect(rig.latestResolve?.0.preferredFamily == .ipv6, "no ping of IPv4 was answered")
    rig.wait(0.5)
    try rig.resolve(last: 2)
    #expect(rig.liveTargets == [2])
    #expect(rig.requests.isEmpty)
    let known = rig.drive.engine.pings.all
    rig.wait(0.5)
    rig.ping(.lost(.unknown), target: 1, ago: 0.8)
    #expect(rig.drive.engine.pings.all == known + 1, "it was under way when the pings went elsewhere")
  }

  @Test("when the session has many fences, then it goes on: no server limits its size")
  mutating func longSession() throws {
    try startPinging()
    for metres in 0..<500 {
      rig.wait(1)
      rig.fix(Double(metres) * 50)
    }
    rig.tick()
    #expect(rig.drive.engine.fences.count > 450)
    #expect(starts.count == 1 && rig.disk.sessions.count == 1)
  }

  @Test("when the target's name is not found, then the status says why, and the drive looks again")
  mutating func unresolved() {
    rig.feed(.began)
    rig.feed(.pingsRead)
    let generation = rig.latestResolve?.1 ?? 0
    rig.feed(.unresolved(reason: "the name target.example cannot be resolved", for: generation))
    rig.tick()
    #expect(rig.status?.warnings.contains("the name target.example cannot be resolved") == true)
    rig.wait(2)
    rig.tick()
    #expect(rig.latestResolve?.1 == generation + 1)
    #expect(rig.requests.isEmpty)
  }

  @Test("when the target refuses the token, then the status says what helps")
  mutating func refused() throws {
    rig = Self.rig(.rtr)
    try startPinging()
    rig.wait(0.1)
    rig.ping(.refused(rttNanoseconds: 10_000_000))
    rig.tick()
    #expect(rig.status?.warnings.contains(DriveStatus.targetRefuses) == true)
    #expect(rig.requests.isEmpty)
  }

  @Test("when no ping is answered from the start, then the status names the command that says why, until one is")
  mutating func silent() throws {
    rig = Self.rig(.rtr)
    try startPinging()
    for _ in 0..<60 {
      rig.wait(0.1)
      rig.ping(.lost(.up))
    }
    rig.tick()
    let warning = "no ping was answered yet: coverage-probe doctor says whether the target answers"
    #expect(rig.status?.warnings.contains(warning) == true)
    rig.ping(.answered(rttNanoseconds: 20_000_000))
    rig.tick()
    #expect(rig.status?.warnings.contains(warning) == false)
  }

  @Test("when the name of the target finds no answer, then that is no wait for a test")
  mutating func noName() {
    rig = Self.rig(.rtr)
    rig.feed(.began)
    rig.feed(.pingsRead)
    rig.fix(0)
    rig.tick()
    #expect(rig.drive.engine.pause == nil)
  }

  @Test("when a refusal of the token comes late, or an answer in time after an error, then none is late")
  mutating func notLate() throws {
    try startPinging()
    rig.fix(0)
    rig.wait(3)
    rig.ping(.lost(.unknown), ago: 2)
    for (rtt, flags) in [(1_500_000_000, .refused), (500_000_000, [])] as [(Int64, PingEvent.Flags)] {
      for kind in [PingEvent.Kind.late(rttNanoseconds: rtt), .duplicate] where kind != .duplicate || flags == .refused {
        var event = PingEvent.sample(kind, slot: DriveRig.startedBoot + 1_000_000_000)
        event.flags = flags
        rig.feed(.ping(event))
      }
    }
    #expect((rig.drive.engine.pings.late, rig.drive.engine.openFence?.figures.duplicates) == (0, 0))
    rig.ping(.late(rttNanoseconds: 1_500_000_000), ago: 2)
    #expect(rig.drive.engine.pings.late == 1)
  }

  @Test("when a ping of this host cannot be sent, then it is not lost")
  mutating func unsent() throws {
    try startPinging()
    rig.fix(0)
    rig.wait(0.1)
    rig.ping(.notSent(SendFailure(code: EPERM)))
    rig.wait(0.1)
    rig.ping(.lost(.unknown))
    let fence = try #require(rig.drive.engine.openFence)
    #expect((fence.pings, fence.figures.unsent) == (1, 1))
  }

  @Test("when the drive is reported, then status and summary say that nothing is submitted")
  mutating func words() throws {
    try startPinging()
    rig.tick()
    #expect(rig.status?.target == Self.icmp)
    #expect(rig.status?.line.contains("not submitted") == true)
    let summary = rig.drive.summary(drive: 1, capture: nil, at: rig.now)
    #expect(summary.target == Self.icmp)
  }

  @Test("when the secret is in a file, then its first line counts; an empty one is an error")
  func secretFile() throws {
    let folder = try TemporaryFolder()
    var settings = TargetSettings()
    (settings.host, settings.port, settings.kind) = ("192.0.2.1", 4440, .rtr)
    settings.secretFile = try folder.write("demo-secret\nnot this\n", to: "secret")
    let known = try #require(TargetPings(settings)).withSecret()
    let expected = TargetPings(DriveTarget(.rtr, host: "192.0.2.1", port: 4440), secret: Array("demo-secret".utf8))
    #expect(known.echo(from: "127.0.0.1", at: .sampleStart) == expected.echo(from: "127.0.0.1", at: .sampleStart))
    _ = try folder.write("\nbehind it\n", to: "empty")
    for (file, reason) in [("empty", "is empty"), ("none", "cannot read")] {
      settings.secretFile = folder.file(file)
      let error = #expect(throws: TargetSecretError.self) { _ = try TargetPings(settings)?.withSecret() }
      let line = "\(try #require(error))"
      #expect(line.hasPrefix("pings.target.secret-file: ") && line.contains(reason))
    }
  }
}
