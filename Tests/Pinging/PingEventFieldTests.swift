import CPinger
import Glibc
import Testing

@testable import Pinging

/// The fields of an event, as the C half delivers them.
struct PingEventFieldTests {
  private func event(_ kind: cping_kind, _ change: (inout cping_event) -> Void = { _ in }) -> PingEvent {
    var raw = cping_event()
    raw.kind = kind
    change(&raw)
    return PingEvent(raw)
  }

  @Test("when a ping was not sent, then it has no time of sending and no number on the wire")
  func notSent() {
    let unsent = event(CPING_NOT_SENT) { ($0.error, $0.slot_ns, $0.sequence) = (101, 7, 5) }
    #expect(unsent.kind == .notSent(SendFailure(code: ENETUNREACH)))
    #expect(unsent.sent == nil && unsent.sequenceOnWire == nil && unsent.slot == 7)
    let sent = event(CPING_LOST) { ($0.sent_ns, $0.sequence) = (9, 5) }
    #expect(sent.sent == 9 && sent.sequenceOnWire == 5)
    #expect(event(CPING_NOT_SENT) { ($0.error, $0.count, $0.sequence) = (62, 2, 5) }.sequenceOnWire == nil)
  }

  @Test("when a far end has stamped a reply, then the event has both one-way delays, and otherwise neither")
  func oneWay() {
    #expect(event(CPING_ANSWERED) { ($0.up_ns, $0.down_ns) = (3, 4) }.oneWay == nil)
    let stamped = event(CPING_ANSWERED) {
      ($0.up_ns, $0.down_ns, $0.far_stamp) = (-3, 4, UInt8(CPING_STAMP_KERNEL.rawValue))
    }
    #expect(stamped.oneWay == .init(upNanoseconds: -3, downNanoseconds: 4))
    let restarted = event(CPING_ANSWERED) {
      ($0.far_stamp, $0.far_restarted) = (UInt8(CPING_STAMP_CLOCK.rawValue), 1)
    }
    #expect(restarted.oneWay?.isRestarted == true)
  }

  @Test("when a damaged reply belongs to no ping, then its event is of no known ping; every other event is")
  func knownPing() {
    #expect(!event(CPING_CORRUPT).isOfKnownPing)
    #expect(event(CPING_CORRUPT) { $0.sent_ns = 1 }.isOfKnownPing)
    #expect(event(CPING_LOST).isOfKnownPing && event(CPING_NOT_SENT).isOfKnownPing)
  }

  @Test("when a target itself has answered, then the event is a sign of life; a router's error is not")
  func signsOfLife() {
    for kind in [CPING_ANSWERED, CPING_REFUSED, CPING_LATE, CPING_DUPLICATE] {
      #expect(event(kind).isSignOfLife, "\(kind)")
    }
    for kind in [
      CPING_LOST, CPING_ICMP_ERROR, CPING_NOT_SENT, CPING_CANCELLED, CPING_CORRUPT, CPING_FINISHED, CPING_REMOVED,
      CPING_OVERFLOW,
    ] {
      #expect(!event(kind).isSignOfLife, "\(kind)")
    }
  }

  @Test("when an event has a sender, then its address and port are those of the reply, else it has no address")
  func sender() throws {
    #expect(event(CPING_LOST).from == nil)
    let router = try #require(PingAddress(numeric: "2001:db8::9", port: 444))
    #expect(event(CPING_ICMP_ERROR) { $0.from = router.raw }.from?.description == "[2001:db8::9]:444")
  }

  @Test(
    "when a stamp has a source, then the event names it, and an unknown one counts as none",
    arguments: [
      (CPING_STAMP_NONE.rawValue, PingEvent.Stamp.none), (CPING_STAMP_KERNEL.rawValue, .kernel),
      (CPING_STAMP_CLOCK.rawValue, .clock), (200, .none),
    ] as [(UInt32, PingEvent.Stamp)])
  func stamps(raw: UInt32, expected: PingEvent.Stamp) {
    let event = event(CPING_ANSWERED) { ($0.send_stamp, $0.receive_stamp) = (UInt8(raw), UInt8(raw)) }
    #expect((event.sendStamp, event.receiveStamp) == (expected, expected))
  }

  // MARK: Names and addresses

  @Test("when a name cannot be resolved, then the error names it without control characters")
  func nameError() {
    let error = NameError(name: "a\u{1B}[2Jb\nc", reason: "x")
    #expect(error.description == "cannot find the address of a [2Jb c: x")
  }

  @Test("when a numeric address is resolved, then the result is that address, in its own family only")
  func numeric() async throws {
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: 7))
    #expect(try await PingAddress.resolve("127.0.0.1", port: 7) == [address])
    #expect(try await PingAddress.resolve("127.0.0.1", port: 7, family: .ipv4) == [address])
    await #expect(throws: NameError.self) { try await PingAddress.resolve("127.0.0.1", port: 7, family: .ipv6) }
    await #expect(throws: NameError.self) { try await PingAddress.resolve("::1", port: 7, family: .ipv4) }
  }

  @Test("when an address has a scope, then it belongs to one link, and its text names the interface")
  func scope() throws {
    let local = try #require(PingAddress(numeric: "fe80::1%lo", port: 0))
    #expect(local.hasScope && local.host == "fe80::1%lo" && local.description == "fe80::1%lo")
    #expect(try #require(PingAddress(numeric: "2001:db8::1", port: 0)).hasScope == false)
  }
}
