import Foundation
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// The text for each kind of event; the fields of a line are in ``PingLineTests``.
struct PingVerdictLineTests {
  private func line(
    _ kind: PingEvent.Kind, oneWay: PingEvent.OneWay? = nil, isOfKnownPing: Bool = true, from: PingAddress? = nil
  ) -> PingVerdictLine {
    let event = PingEvent.sample(kind, number: 4, oneWay: oneWay, isOfKnownPing: isOfKnownPing, from: from)
    return PingVerdictLine(name: "a", event: event, wallClock: WallReading(aheadNanoseconds: 0))
  }

  private func fields(_ line: PingVerdictLine) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(line.json.utf8)) as? [String: Any])
  }

  @Test("when a ping is too long for this host's own link, then text and JSON have the MTU")
  func tooLong() throws {
    var event = PingEvent.sample(.notSent(SendFailure(code: EMSGSIZE)), number: 4)
    event.mtu = 1300
    let line = PingVerdictLine(name: "a", event: event, wallClock: WallReading(aheadNanoseconds: 0))
    let reason = "it is too long for this host's own link (Message too long), the MTU is 1300 bytes"
    #expect(line.text == "a: ping 4 not sent: \(reason)")
    let fields = try fields(line)
    #expect(fields["mtu"] as? Int == 1300 && fields["reason"] as? String == reason)
  }

  @Test(
    "when a ping has a verdict or a reply after it, then the text describes it, and the JSON names it",
    arguments: [
      (.answered(rttNanoseconds: 1_234_567), "answered", "1.235 ms"), (.lost(.unknown), "lost", "lost"),
      (.lost(.up), "lost", "lost on the way up"), (.lost(.down), "lost", "lost on the way down"),
      (.refused(rttNanoseconds: 2_000_000), "refused", "2.000 ms (token refused, RE01)"),
      (.icmpError(type: 11, code: 0), "icmp-error", "TTL exceeded (ICMP type 11 code 0), from unknown"),
      (.notSent(SendFailure(code: ENETUNREACH)), "not-sent", "not sent: there is no route (Network is unreachable)"),
      (.missed(count: 2), "missed", "and 1 after it not sent: this host had no time"),
      (.cancelled, "cancelled", "cancelled"),
      (.late(rttNanoseconds: 1_500_000_000), "late", "1500.000 ms, after it counted as lost"),
      (.duplicate, "duplicate", "answered once more"), (.corrupt, "corrupt", "a reply with other bytes than were sent"),
      (.elsewhere, "elsewhere", "answered from another address, unknown: not counted"),
    ] as [(PingEvent.Kind, String, String)])
  func words(kind: PingEvent.Kind, name: String, text: String) throws {
    let line = line(kind)
    #expect(line.text == "a: ping 4 \(text)")
    #expect(try fields(line)["verdict"] as? String == name)
  }

  @Test("when a reply belongs to no known ping, then neither text nor JSON has a number")
  func unknown() throws {
    let line = line(.corrupt, isOfKnownPing: false)
    #expect(line.text == "a: no known ping: a reply with other bytes than were sent")
    #expect(try fields(line)["sequence"] == nil)
  }

  @Test("when a loss has a direction or a ping was not sent, then the reason is a field; an answer has no reason")
  func reasons() throws {
    #expect(try fields(line(.lost(.down)))["reason"] as? String == "down")
    #expect(try fields(line(.lost(.unknown)))["reason"] == nil)
    #expect(
      try fields(line(.notSent(SendFailure(code: ENETUNREACH))))["reason"] as? String
        == "there is no route (Network is unreachable)")
    #expect(try fields(line(.answered(rttNanoseconds: 1)))["reason"] == nil)
  }

  @Test("when an event has no round trip, then its line has no stamps")
  func stamps() throws {
    for kind in [PingEvent.Kind.lost(.unknown), .duplicate, .cancelled] {
      let fields = try fields(line(kind))
      #expect(fields["rtt_ms"] == nil && fields["send_stamp"] == nil && fields["receive_stamp"] == nil)
    }
  }

  @Test("when a reflector has stamped, then both delays are fields in nanoseconds, with their signs")
  func delays() throws {
    let fields = try fields(
      line(.answered(rttNanoseconds: 1), oneWay: .init(upNanoseconds: -5_000_000_000, downNanoseconds: 5_010_000_000)))
    #expect(fields["up_ns"] as? Int == -5_000_000_000)
    #expect(fields["down_ns"] as? Int == 5_010_000_000)
    #expect(try self.fields(line(.answered(rttNanoseconds: 1)))["up_ns"] == nil)
  }

  @Test("when a router reports an error, then the text names the router")
  func router() throws {
    let router = try #require(PingAddress(numeric: "2001:db8::9", port: 0))
    #expect(
      line(.icmpError(type: 1, code: 3), from: router).text
        == "a: ping 4 address unreachable (ICMPv6 type 1 code 3), from 2001:db8::9")
  }
}
