import Foundation
import TestSupport
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// The line of one ping, as text and as JSON.
struct PingLineTests {
  /// The wall clock is 1 s ahead.
  private func line(_ event: PingEvent) -> PingVerdictLine {
    PingVerdictLine(name: "a", event: event, wallClock: WallReading(aheadNanoseconds: 1_000_000_000))
  }

  private func fields(_ event: PingEvent) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(line(event).json.utf8)) as? [String: Any])
  }

  @Test("when a ping is answered, then its line has all times and stamps")
  func answered() {
    #expect(
      line(.sample(.answered(rttNanoseconds: 2_500_000), number: 3)).json
        == #"{"target":"a","ping":3,"sequence":3,"slot_ns":300000000,"sent_ns":301000000,"wall_ns":1301000000,"#
        + #""verdict":"answered","rtt_ms":2.5,"send_stamp":"kernel","receive_stamp":"kernel"}"#)
  }

  @Test("when pings were missed, then the line says how many, and when the first one should have been sent")
  func missed() throws {
    let missed = PingEvent.sample(.missed(count: 7), number: 2)
    let fields = try fields(missed)
    #expect(fields["count"] as? Int == 7)
    #expect(fields["ping"] as? Int == 2)
    #expect(fields["wall_ns"] as? Int == 1_200_000_000)
    #expect(fields["sent_ns"] == nil && fields["sequence"] == nil)
    #expect(fields["reason"] as? String == "this host had no time")
    #expect(line(missed).text == "a: ping 2 and 6 after it not sent: this host had no time")
    #expect(line(.sample(.missed(count: 1), number: 2)).text == "a: ping 2 not sent: this host had no time")
  }

  @Test("when a router reports an error, then type, code and the router are fields of their own")
  func icmpError() throws {
    let router = try #require(PingAddress(numeric: "192.0.2.9", port: 0))
    let fields = try fields(.sample(.icmpError(type: 3, code: 13), number: 0, from: router))
    #expect(fields["verdict"] as? String == "icmp-error")
    #expect(fields["icmp_type"] as? Int == 3)
    #expect(fields["icmp_code"] as? Int == 13)
    #expect(fields["from"] as? String == "192.0.2.9")
  }

  @Test("when an event has flags for stamps, clocks or order, then each is a member of the JSON and words in the text")
  func flags() throws {
    for (flag, key, words) in [
      (PingEvent.Flags.clockStep, "clock_step", "the clock was set meanwhile"),
      (.noSendStamp, "no_send_stamp", "without a stamp of sending"),
      (.noReceiveStamp, "no_receive_stamp", "without a stamp of receiving"),
      (.absurdStamps, "absurd_stamps", "with absurd stamps"), (.reordered, "reordered", "out of order"),
      (.refused, "refused", "token refused"),
    ] {
      let flagged = PingEvent.sample(.late(rttNanoseconds: 2_000_000_000), number: 0, flags: flag)
      #expect(try fields(flagged)[key] as? Bool == true)
      #expect(line(flagged).text == "a: ping 0 2000.000 ms, after it counted as lost, \(words)")
      #expect(try fields(.sample(.answered(rttNanoseconds: 1), number: 0))[key] == nil)
    }
  }

  @Test("when a damaged reply belongs to no known ping, then its line has its arrival time")
  func unknownPing() throws {
    let fields = try fields(.sample(.corrupt, number: 0, isOfKnownPing: false))
    #expect(fields["wall_ns"] as? Int == 1_021_000_000)
    #expect(fields["ping"] == nil && fields["slot_ns"] == nil)
  }

  @Test("when the wall clock is read beside the pinger's clock, then it has the present time")
  func wallClock() {
    let now = WallReading.current.time(of: Pinger.now)
    #expect(abs(Date.now.timeIntervalSince1970 * 1e9 - Double(now)) < 1e9)
  }
}
