import TestSupport
import Testing

@testable import Pinging

/// The settings of a target: which of them reach the wire, and which are refused before a ping is sent.
struct PingTargetTests {
  private static func target(
    _ echo: PingTarget.Echo = .oneWay, host: String = "127.0.0.1", port: UInt16 = 9
  ) throws -> PingTarget {
    let address = try #require(PingAddress(numeric: host, port: port))
    return PingTarget(address: address, echo: echo, timeout: .milliseconds(50), count: 1)
  }

  /// The first datagram of a target.
  private func sent(_ change: (inout PingTarget) throws -> Void) throws -> DatagramReceiver.Datagram {
    let receiver = try DatagramReceiver()
    let pinger = try Pinger()
    var target = try Self.target(port: receiver.port)
    target.count = 0
    try change(&target)
    _ = try pinger.start(target)
    let datagram = try receiver.next()
    pinger.shutdown()
    return datagram
  }

  @Test("when size, hop limit, traffic class and source are set, then each ping has them on the wire")
  func wire() throws {
    let datagram = try sent {
      ($0.size, $0.hopLimit, $0.trafficClass) = (100, 7, 0xB8)
      $0.source = PingAddress(numeric: "127.0.0.3", port: 0)
    }
    #expect(datagram == .init(bytes: 100, from: 0x7F00_0003, hopLimit: 7, trafficClass: 0xB8))
  }

  @Test("when nothing is set, then the format's own size and the host's hop limit and source are used")
  func defaults() throws {
    let datagram = try sent { _ in }
    #expect((datagram.bytes, datagram.from, datagram.trafficClass) == (72, 0x7F00_0001, 0))
    #expect(try #require(datagram.hopLimit) >= 32)
  }

  @Test("when the token of an RTR ping is longer than 16 bytes, then the datagram keeps its 24 bytes")
  func longToken() throws {
    #expect(try sent { $0.echo = .rtr(token: [UInt8](repeating: 1, count: 40)) }.bytes == 24)
  }

  @Test(
    "when a setting is outside of its range, then the target is refused, and the error says so",
    arguments: [
      { $0.interval = .nanoseconds(999_999) }, { $0.interval = .seconds(86_401) }, { $0.timeout = .seconds(86_401) },
      { $0.size = 71 }, { $0.size = 65_508 }, { ($0.floodWindow, $0.interval) = (65_537, .zero) },
      { ($0.echo, $0.size) = (.rtr(token: []), 24) }, { $0.echo = .icmp }, { $0.socket = .raw },
      { $0.source = PingAddress(numeric: "::1", port: 0) }, { $0.address = .unresolved(port: 9) },
      { $0.address = PingAddress(numeric: "0.0.0.0", port: 9) ?? $0.address },
      { $0.address = PingAddress(numeric: "127.0.0.1", port: 0) ?? $0.address },
    ] as [@Sendable (inout PingTarget) -> Void])
  func ranges(change: @Sendable (inout PingTarget) -> Void) throws {
    var target = try Self.target()
    change(&target)
    let pinger = try Pinger()
    let error = #expect(throws: PingerError.self) { try pinger.add(target) }
    #expect(error?.code == -22)
    #expect(error?.description == "a field of the ping target is out of range")
  }

  @Test(
    "when a setting is at an end of its range, then the target is accepted",
    arguments: [
      { $0.interval = .milliseconds(1) }, { $0.interval = .seconds(86_400) }, { $0.timeout = .seconds(86_400) },
      { $0.size = 72 }, { $0.size = 65_507 }, { ($0.floodWindow, $0.interval) = (65_536, .zero) },
    ] as [@Sendable (inout PingTarget) -> Void])
  func ends(change: @Sendable (inout PingTarget) -> Void) throws {
    var target = try Self.target()
    change(&target)
    #expect(try Pinger().add(target) > 0)
  }

  @Test("when the host has no such interface or source address, then the error names the missing part")
  func missing() throws {
    let pinger = try Pinger()
    var unknown = try Self.target()
    unknown.interface = "nosuch0"
    let interface = #expect(throws: PingerError.self) { try pinger.add(unknown) }
    #expect(interface?.code == -19)
    #expect(interface?.description.contains("nosuch0") == true, "\(String(describing: interface))")
    var foreign = try Self.target()
    foreign.source = PingAddress(numeric: "192.0.2.77", port: 0)
    let source = #expect(throws: PingerError.self) { try pinger.add(foreign) }
    #expect(source?.code == -99)
    #expect(source?.description == "no network interface has the source address")
  }

  @Test("when a target begins a second time, then the second start is refused, and the target is removed")
  func begunTwice() throws {
    let pinger = try Pinger()
    let id = try pinger.start(try Self.target())
    let error = #expect(throws: PingerError.self) { try pinger.begin(id) }
    #expect(error?.description == "the ping target was started before")
    #expect(pinger.state(of: id) == nil)
  }

  @Test("when the ring of events is larger than its limit, then no pinger begins")
  func ring() throws {
    var options = Pinger.Options()
    options.eventCapacity = Pinger.Options.largestEventCapacity
    #expect(throws: Never.self) { try Pinger(options) }
    options.eventCapacity += 1
    #expect(throws: PingerError.self) { try Pinger(options) }
  }

  @Test("when real-time scheduling is not requested, then the pinger's thread has the usual policy")
  func scheduling() throws {
    #expect(try Pinger().scheduling == .usual)
    var options = Pinger.Options()
    options.isRealtime = true
    #expect(try Pinger(options).scheduling != .usual, "granted, or refused with a reason")
  }
}
