import CPinger
import Coverage
import Glibc
import TestSupport
import Testing

@testable import Pinging

/// The life of a target: pause, stop, removal, and what a reader of events sees at the end.
struct PingerLifeTests {
  private func target(port: UInt16, count: UInt64 = 0) throws -> PingTarget {
    PingTarget(
      address: try #require(PingAddress(numeric: "127.0.0.1", port: port)), echo: .rtr(token: PingerLifeTests.token),
      interval: .milliseconds(5), timeout: .seconds(30), count: count)
  }

  /// An expired token: a reflector does not answer.
  private static let token = [UInt8](repeating: 1, count: 16)

  /// The first event for which `isWanted` is true.
  private func first(_ pinger: Pinger, _ isWanted: (PingEvent) -> Bool) async -> PingEvent? {
    for await event in pinger.events where isWanted(event) { return event }
    return nil
  }

  @Test("when a target is removed, then its pings under way are cancelled, and its last event is its removal")
  func removed() async throws {
    let reflector = try await ReflectorTool(["--drop", "100"])
    let pinger = try Pinger()
    let id = try pinger.start(try target(port: reflector.port))
    _ = try await eventually("pings are under way") { (pinger.state(of: id)?.underWay ?? 0) >= 3 ? () : nil }
    pinger.remove(id)
    var kinds: [PingEvent.Kind] = []
    for await event in pinger.events {
      if case .missed = event.kind { continue }
      kinds.append(event.kind)
      if event.kind == .removed { break }
    }
    #expect(kinds.count >= 4)
    #expect(kinds.dropLast().allSatisfy { $0 == .cancelled })
    #expect(pinger.state(of: id) == nil)
    pinger.shutdown()
    #expect(await first(pinger) { _ in true } == nil, "the events end")
    try await reflector.program.stop()
  }

  @Test(
    "when calls name a target that does not exist or is gone, then they change nothing",
    arguments: [0, -1, 77, Int64.max, .min])
  func unknownTargets(id: PingTarget.ID) throws {
    let pinger = try Pinger()
    pinger.stop(id)
    pinger.remove(id)
    #expect(pinger.state(of: id) == nil)
    #expect(throws: PingerError.self) { try pinger.begin(id) }
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: 1))
    #expect(throws: PingerError.self) { try pinger.redirect(id, to: address) }
    pinger.shutdown()
    #expect(pinger.events.available().isEmpty)
  }

  @Test("when the pinger is shut down, then a waiting reader gets the end, and no further target can be added")
  func shutdown() async throws {
    let pinger = try Pinger()
    let reading = Task { await first(pinger) { _ in true } }
    pinger.shutdown()
    pinger.shutdown()
    #expect(await reading.value == nil)
    let target = try target(port: 9)
    #expect(throws: PingerError.self) { try pinger.start(target) }
  }

  @Test("when the reading task is cancelled, then it ends without waiting for an event")
  func cancelled() async throws {
    let pinger = try Pinger()
    let reading = Task { await first(pinger) { _ in true } }
    reading.cancel()
    #expect(await reading.value == nil)
    pinger.shutdown()
  }

  @Test("when a pinger is released in the middle of its pings, then its events can be released in any order")
  func released() async throws {
    let reflector = try await ReflectorTool([])
    for isEventsFirst in [true, false] {
      var pinger: Pinger? = try Pinger()
      var events: PingEvents? = pinger?.events
      _ = try pinger?.start(try target(port: reflector.port))
      if isEventsFirst { events = nil }
      pinger = nil
      if let left = events { for await _ in left {} }
    }
    try await reflector.program.stop()
  }

  // MARK: Unreachable targets

  @Test("when the interface is missing but may come, then pings are not sent meanwhile, and the reason is reported")
  func awaitedInterface() async throws {
    let pinger = try Pinger()
    var target = try target(port: 9, count: 3)
    (target.interface, target.awaitsInterface) = ("nosuch0", true)
    _ = try pinger.start(target)
    var reasons: Set<SendFailure> = []
    for await event in pinger.events {
      if case .notSent(let reason) = event.kind {
        reasons.insert(reason)
        #expect(event.outcome == .unsent())
        #expect(event.sequenceOnWire == nil && event.sent == nil)
      }
      if event.kind == .finished { break }
    }
    #expect(reasons == [SendFailure(code: ENODEV)])
    pinger.shutdown()
  }

  @Test(
    "when no program listens at the port, then the host's ICMP error is the verdict, and counts as lost by the network")
  func unreachable() async throws {
    let pinger = try Pinger()
    _ = try pinger.start(try target(port: try freePort(), count: 1))
    let verdict = await first(pinger) { $0.outcome != nil }
    #expect(verdict?.kind == .icmpError(type: 3, code: 3))
    #expect(verdict?.outcome == .failed(.network))
    #expect(verdict?.from?.host == "127.0.0.1")
    pinger.shutdown()
  }
}

/// Events as the C half makes them, and waits that grow.
struct PingEventTests {
  private func event(_ kind: cping_kind, _ change: (inout cping_event) -> Void = { _ in }) -> PingEvent {
    var raw = cping_event()
    raw.kind = kind
    change(&raw)
    return PingEvent(raw)
  }

  @Test("when a ping has a verdict, then the drive counts answered and lost ones only")
  func outcomes() {
    #expect(event(CPING_ANSWERED) { $0.rtt_ns = 7 }.outcome == .answered(rttNanoseconds: 7))
    #expect(event(CPING_LOST).outcome == .failed(.timeout))
    #expect(event(CPING_ICMP_ERROR).outcome == .failed(.network))
    #expect(event(CPING_NOT_SENT) { $0.error = 101 }.outcome == .unsent())
    for kind in [
      CPING_REFUSED, CPING_LATE, CPING_DUPLICATE, CPING_CORRUPT, CPING_FINISHED, CPING_REMOVED, CPING_OVERFLOW,
    ] {
      #expect(event(kind).outcome == nil, "\(kind)")
    }
    #expect(event(CPING_NOT_SENT) { ($0.error, $0.count) = (62, 9) }.kind == .missed(count: 9), "this host stalled")
    #expect(event(CPING_NOT_SENT) { ($0.error, $0.count) = (62, 9) }.outcome == .unsent(count: 9))
  }

  @Test("when both stamps are the kernel's and no clock was set, then the round trip counts as the kernel's, else not")
  func stamps() {
    func isKernels(_ send: cping_stamp, _ receive: cping_stamp, _ flag: UInt32 = 0) -> Bool? {
      let event = event(CPING_ANSWERED) {
        ($0.send_stamp, $0.receive_stamp, $0.flags) = (UInt8(send.rawValue), UInt8(receive.rawValue), flag)
      }
      guard case .answered(_, let isKernelStamped)? = event.outcome else { return nil }
      return isKernelStamped
    }
    #expect(isKernels(CPING_STAMP_KERNEL, CPING_STAMP_KERNEL) == true)
    #expect(isKernels(CPING_STAMP_CLOCK, CPING_STAMP_KERNEL) == false)
    #expect(isKernels(CPING_STAMP_KERNEL, CPING_STAMP_CLOCK) == false)
    #expect(isKernels(CPING_STAMP_NONE, CPING_STAMP_KERNEL) == false)
    #expect(isKernels(CPING_STAMP_KERNEL, CPING_STAMP_KERNEL, CPING_FLAG_CLOCK_STEP.rawValue) == false)
  }

  @Test("when a one-way reflector has counted, then a loss has its direction")
  func ways() {
    #expect(event(CPING_LOST) { $0.flags = CPING_FLAG_LOST_UP.rawValue }.kind == .lost(.up))
    #expect(event(CPING_LOST) { $0.flags = CPING_FLAG_LOST_DOWN.rawValue }.kind == .lost(.down))
    #expect(event(CPING_LOST).kind == .lost(.unknown))
  }

  @Test("when a server limits a test, then it is used no longer than the limit or the life of its token")
  func life() {
    let policy = RecoveryPolicy()
    #expect(policy.life(limit: nil) == .seconds(4 * 3600 - 120))
    #expect(policy.life(limit: .seconds(60)) == .seconds(60))
    #expect(policy.life(limit: .seconds(86_400 * 365)) == policy.longestSession)
  }

  @Test(
    "when a text is not the address of one host, then it is rejected",
    arguments: [
      "", " ", "127.0.0", "127.0.0.256", "1.2.3.4.5", "0x7f.1", "::1::", "[::1]", "fe80::1%", "fe80::1%nosuch0",
      "127.0.0.1:80", "12345::", "localhost", "127.0.0.1\0", String(repeating: "1", count: 10_000),
    ])
  func noAddress(text: String) {
    #expect(PingAddress(numeric: text, port: 1) == nil)
  }

  @Test("when a name has a zero byte, then the part before that byte is not looked up")
  func zeroByte() async {
    let error = await #expect(throws: NameError.self) {
      try await PingAddress.resolve("localhost\0.example", port: 1)
    }
    #expect(error?.reason == "it has a zero byte")
  }
}
