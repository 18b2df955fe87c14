import Coverage
import Foundation
import TestSupport
import Testing

@testable import Pinging

/// The pinger against the real reflector, over loopback.
struct PingerTests {
  private func ping(_ target: PingTarget) async throws -> [PingEvent] {
    let pinger = try Pinger()
    let id = try pinger.start(target)
    var events: [PingEvent] = []
    var missed: UInt64 = 0
    for await event in pinger.events {
      #expect(event.target == id)
      switch event.kind {
      case .finished:
        pinger.shutdown()
        #expect(UInt64(events.count) + missed == target.count, "every ping has one verdict")
        return events
      // On a machine that is busy with other things a slot can pass before the thread runs.
      case .missed(let count): missed += count
      default: events.append(event)
      }
    }
    return events
  }

  private func target(_ echo: PingTarget.Echo, host: String = "127.0.0.1", port: UInt16 = 0) async throws -> PingTarget
  {
    let address = try #require(try await PingAddress.resolve(host, port: port).first)
    return PingTarget(
      address: address, echo: echo, interval: .milliseconds(10), timeout: .milliseconds(300), count: 10)
  }

  /// An unsigned token of the current time: a reflector without a secret answers RE01 to it.
  private func unsignedToken() -> [UInt8] {
    let seconds = UInt32(clamping: Int64(Date.now.timeIntervalSince1970))
    return withUnsafeBytes(of: seconds.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
  }

  @Test("when a reader polls, then it gets the available events, and each event once")
  func available() async throws {
    let pinger = try Pinger()
    #expect(pinger.events.available().isEmpty)
    let target = try await target(.icmp)
    _ = try pinger.start(target)
    var events: [PingEvent] = []
    _ = try await eventually("the end") {
      events += pinger.events.available()
      return events.contains { $0.kind == .finished } ? () : nil
    }
    let missed = events.reduce(UInt64(0)) { if case .missed(let count) = $1.kind { $0 + count } else { $0 } }
    let others = events.filter { if case .missed = $0.kind { false } else { $0.kind != .finished } }
    #expect(UInt64(others.count) + missed == target.count)
    #expect(Set(others.map(\.number)).count == others.count)
    #expect(pinger.events.available().isEmpty)
    pinger.shutdown()
  }

  @Test("when a host answers echoes, then every ping has a round-trip time by the kernel's stamps")
  func icmp() async throws {
    let events = try await ping(try await target(.icmp))
    #expect(!events.isEmpty)
    for event in events {
      guard case .answered(let rtt) = event.kind else {
        Issue.record("\(event)")
        continue
      }
      #expect((1_000..<300_000_000).contains(rtt))
      #expect(event.sendStamp == .kernel)
      #expect(event.receiveStamp == .kernel)
    }
    let first = try #require(events.first)
    for event in events {
      #expect(event.slot - first.slot == (event.number - first.number) * 10_000_000, "the grid is exact")
    }
  }

  @Test("when the ping server does not accept the token, then the ping is refused and has no outcome")
  func refused() async throws {
    let reflector = try await ReflectorTool([])
    let events = try await ping(try await target(.rtr(token: unsignedToken()), port: reflector.port))
    #expect(!events.isEmpty)
    for event in events {
      guard case .refused = event.kind else {
        Issue.record("\(event)")
        continue
      }
      #expect(event.outcome == nil)
    }
    try await reflector.program.stop()
  }

  @Test("when no reply comes back, then every ping is lost")
  func lost() async throws {
    let reflector = try await ReflectorTool(["--drop", "100"])
    let events = try await ping(try await target(.rtr(token: unsignedToken()), port: reflector.port))
    #expect(events.allSatisfy { $0.kind == .lost(.unknown) })
    #expect(events.allSatisfy { $0.outcome == .failed(.timeout) })
    try await reflector.program.stop()
  }

  @Test("when a name has no address, then the error names it")
  func noName() async throws {
    let error = await #expect(throws: NameError.self) {
      try await PingAddress.resolve("no-such-host.invalid", port: 1)
    }
    #expect("\(try #require(error))".contains("no-such-host.invalid"))
  }

  @Test("when a target is added, then its port is known and nothing is sent before it begins")
  func addedThenBegun() async throws {
    let reflector = try await ReflectorTool([])
    let pinger = try Pinger()
    let id = try pinger.add(try await target(.rtr(token: unsignedToken()), port: reflector.port))
    let state = try #require(pinger.state(of: id))
    #expect(state.localPort > 0)
    #expect(state.slots == 0)
    try pinger.begin(id)
    for await event in pinger.events where event.kind == .finished { pinger.shutdown() }
    #expect(pinger.state(of: id + 1) == nil)
    try await reflector.program.stop()
  }

  @Test(
    "when a flood is read slowly, then it waits for its reader, and every ping has its verdict",
    .timeLimit(.minutes(5)))
  func slowReader() async throws {
    let pinger = try Pinger()
    var flood = try await target(.rtr(token: unsignedToken()), port: 1)
    (flood.floodWindow, flood.count, flood.interval) = (64, 50_000, .zero)
    let id = try pinger.start(flood)
    var seen: [UInt64] = []
    _ = try await eventually("the flood stops") {
      seen.append(pinger.state(of: id)?.slots ?? 0)
      return seen.count > 10 && Set(seen.suffix(10)).count == 1 ? () : nil
    }
    var verdicts = Set<UInt64>()
    var others: [PingEvent] = []
    for await event in pinger.events {
      if case .finished = event.kind { pinger.shutdown() }
      if event.outcome != nil { verdicts.insert(event.number) } else { others.append(event) }
    }
    #expect(verdicts.count == 50_000)
    #expect(!others.contains { if case .overflow = $0.kind { true } else { false } }, "\(others.prefix(3))")
  }

  @Test("when a target is redirected, then the next pings go to the other address, and the count goes on")
  func redirected() async throws {
    let reflector = try await ReflectorTool([])
    let pinger = try Pinger()
    var silent = try await target(.rtr(token: unsignedToken()), host: "127.0.0.2", port: reflector.port)
    (silent.count, silent.timeout) = (0, .milliseconds(100))
    let id = try pinger.start(silent)
    var verdicts: [PingEvent] = []
    for await event in pinger.events where event.target == id {
      if verdicts.isEmpty {
        try pinger.redirect(id, to: try #require(PingAddress(numeric: "127.0.0.1", port: reflector.port)))
      }
      verdicts.append(event)
      if case .refused = event.kind { break }
    }
    #expect(verdicts.last?.from?.host == "127.0.0.1")
    #expect(throws: PingerError.self) {
      try pinger.redirect(id, to: try #require(PingAddress(numeric: "::1", port: reflector.port)))
    }
    pinger.shutdown()
    try await reflector.program.stop()
  }

  @Test("when addresses are the same, then they are equal in any notation, and different ones are not")
  func addresses() throws {
    func address(_ host: String, _ port: UInt16 = 1) throws -> PingAddress {
      try #require(PingAddress(numeric: host, port: port))
    }
    #expect(try address("2001:db8:0::1") == address("2001:DB8::1"))
    #expect(try Set([address("2001:db8:0::1"), address("2001:DB8::1")]).count == 1)
    #expect(try address("192.0.2.1") != address("192.0.2.2"))
    #expect(try address("192.0.2.1") != address("192.0.2.1", 2))
    #expect(try address("fe80::1%lo") != address("fe80::1"))
    #expect(try address("2001:DB8::1", 444).description == "[2001:db8::1]:444")
    #expect(PingAddress(numeric: "example.org", port: 1) == nil)
  }
}
