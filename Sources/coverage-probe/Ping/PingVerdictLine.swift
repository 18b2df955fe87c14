import Driving
import OrderedJSON
import Pinging
import Store

/// The verdict on one ping, as a line. docs/measuring.md lists the fields of the JSON object.
struct PingVerdictLine {
  /// The target's name, as printed.
  let name: String
  let event: PingEvent
  let wallClock: WallReading

  var text: String {
    let ping = event.isOfKnownPing ? "ping \(event.number)" : "no known ping:"
    let ttl = event.hopLimit.map { ", TTL \($0)" } ?? ""
    return "\(name): \(ping) \(verdict.text)\(ttl)\(remarks)"
  }

  /// Properties of the reply that a reader of delays must know.
  private var remarks: String {
    let all: [(PingEvent.Flags, String)] = [
      (.reordered, "out of order"), (.refused, "token refused"), (.noSendStamp, "without a stamp of sending"),
      (.noReceiveStamp, "without a stamp of receiving"), (.absurdStamps, "with absurd stamps"),
      (.clockStep, "the clock was set meanwhile"),
    ]
    return all.filter { event.flags.contains($0.0) }.map { ", \($0.1)" }.joined()
  }

  var json: String {
    let verdict = verdict
    func flag(_ flag: PingEvent.Flags) -> JSON? { event.flags.contains(flag) ? true : nil }
    return JSON.object([
      "target": .string(name),
      "ping": event.isOfKnownPing ? .integer(Int64(clamping: event.number)) : nil,
      "sequence": event.isOfKnownPing ? event.sequenceOnWire.map { .integer(Int64($0)) } : nil,
      "slot_ns": event.isOfKnownPing ? .integer(Int64(clamping: event.slot)) : nil,
      "sent_ns": event.sent.map { .integer(Int64(clamping: $0)) },
      "wall_ns": .integer(wallClock.time(of: event.moment)),
      "verdict": .string(verdict.name),
      "count": verdict.count.map { .integer(Int64(clamping: $0)) },
      "rtt_ms": verdict.rttNanoseconds.map(JSON.milliseconds(nanoseconds:)),
      "send_stamp": verdict.rttNanoseconds.map { _ in .string(event.sendStamp.rawValue) },
      "receive_stamp": verdict.rttNanoseconds.map { _ in .string(event.receiveStamp.rawValue) },
      "no_send_stamp": flag(.noSendStamp),
      "no_receive_stamp": flag(.noReceiveStamp),
      "absurd_stamps": flag(.absurdStamps),
      "clock_step": flag(.clockStep),
      "reordered": flag(.reordered),
      "refused": flag(.refused),
      "up_ns": event.oneWay.map { .integer($0.upNanoseconds) },
      "down_ns": event.oneWay.map { .integer($0.downNanoseconds) },
      "icmp_type": verdict.icmp.map { .integer(Int64($0.type)) },
      "icmp_code": verdict.icmp.map { .integer(Int64($0.code)) },
      "mtu": event.mtu.map { .integer(Int64($0)) },
      "ttl": event.hopLimit.map { .integer(Int64($0)) },
      "from": event.from.map { .string($0.host) },
      "reason": verdict.reason.map(JSON.string),
    ]).text
  }

  /// The verdict in both formats: `name` is for JSON, `text` for operators.
  private struct Verdict {
    let name: String
    let text: String
    var rttNanoseconds: Int64?
    var count: UInt64?
    var icmp: (type: UInt8, code: UInt8)?
    var reason: String?
  }

  private var verdict: Verdict {
    switch event.kind {
    case .answered(let rtt): Verdict(name: "answered", text: Self.milliseconds(rtt), rttNanoseconds: rtt)
    case .lost(.unknown): Verdict(name: "lost", text: "lost")
    case .lost(let way): Verdict(name: "lost", text: "lost on the way \(way.rawValue)", reason: way.rawValue)
    case .refused(let rtt):
      Verdict(name: "refused", text: "\(Self.milliseconds(rtt)) (token refused, RE01)", rttNanoseconds: rtt)
    case .icmpError(let type, let code):
      Verdict(
        name: "icmp-error", text: "\(icmpWords), from \(event.from?.host ?? "unknown")", icmp: (type, code),
        reason: icmpWords)
    case .notSent(let failure):
      Verdict(name: "not-sent", text: "not sent: \(failure)\(mtuWords)", reason: "\(failure)\(mtuWords)")
    case .missed(let count):
      Verdict(
        name: "missed",
        text: count == 1 ? "not sent: \(Self.busy)" : "and \(count - 1) after it not sent: \(Self.busy)",
        count: count, reason: Self.busy)
    case .cancelled: Verdict(name: "cancelled", text: "cancelled")
    case .late(let rtt):
      Verdict(name: "late", text: "\(Self.milliseconds(rtt)), after it counted as lost", rttNanoseconds: rtt)
    case .duplicate: Verdict(name: "duplicate", text: "answered once more")
    case .corrupt: Verdict(name: "corrupt", text: "a reply with other bytes than were sent")
    case .elsewhere:
      Verdict(
        name: "elsewhere",
        text: "answered from another address, \(event.from.map { "\($0)" } ?? "unknown"): not counted")
    case .finished: Verdict(name: "finished", text: "finished")
    case .removed: Verdict(name: "removed", text: "removed")
    case .overflow(let count): Verdict(name: "overflow", text: "\(count) events missing", count: count)
    }
  }

  private var icmpWords: String { event.icmpText ?? "" }

  private var mtuWords: String { event.mtu.map { ", the MTU is \($0) bytes" } ?? "" }

  /// Why pings were missed: this host stalled or slept.
  private static let busy = "this host had no time"

  /// Three decimals.
  static func milliseconds(_ nanoseconds: Int64) -> String {
    DecimalText.of(Double(nanoseconds) / 1e6, places: 3) + " ms"
  }
}

extension PingEvent {
  /// The time in the line: when the ping was sent, or scheduled if it was not sent. For a reply to no known ping,
  /// when the reply arrived.
  fileprivate var moment: UInt64 { sent ?? (isOfKnownPing ? slot : occurred) }
}
