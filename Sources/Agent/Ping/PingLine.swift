import Coverage
import DriveLog
import OrderedJSON
import Pinging

/// What became of one ping, as a line.
struct PingLine {
  let name: String
  let event: PingEvent

  var text: String {
    let ping = event.isOfKnownPing ? "ping \(event.number)" : "no known ping:"
    return "\(name): \(ping) \(verdict.text)\(event.isReordered ? ", out of order" : "")"
  }

  var json: String {
    JSON.object([
      "target": .string(name),
      "ping": event.isOfKnownPing ? .integer(Int64(event.number)) : nil,
      "sequence": event.isOfKnownPing ? .integer(Int64(event.sequence)) : nil,
      "slot_ns": event.isOfKnownPing ? .integer(Int64(clamping: event.slot)) : nil,
      "verdict": .string(verdict.name),
      "rtt_ms": verdict.rttNanoseconds.map(JSON.milliseconds(nanoseconds:)),
      "send_stamp": verdict.rttNanoseconds.map { _ in .string(event.sendStamp.rawValue) },
      "receive_stamp": verdict.rttNanoseconds.map { _ in .string(event.receiveStamp.rawValue) },
      "reordered": event.isReordered ? true : nil,
      "clock_step": event.sawClockStep ? true : nil,
      "up_ns": event.oneWay.map { .integer($0.upNanoseconds) },
      "down_ns": event.oneWay.map { .integer($0.downNanoseconds) },
      "from": event.from.map { .string($0.host) },
      "reason": verdict.reason.map(JSON.string),
    ]).text
  }

  private var verdict: (name: String, text: String, rttNanoseconds: Int64?, reason: String?) {
    switch event.kind {
    case .answered(let rtt): ("answered", Self.milliseconds(rtt), rtt, nil)
    case .lost(.unknown): ("lost", "lost", nil, nil)
    case .lost(let way): ("lost", "lost on the way \(way.rawValue)", nil, way.rawValue)
    case .refused(let rtt): ("refused", "\(Self.milliseconds(rtt)) (token refused, RE01)", rtt, nil)
    case .icmpError(let type, let code):
      (
        "icmp-error", "unreachable: ICMP type \(type) code \(code) from \(event.from?.host ?? "nobody")", nil,
        "ICMP type \(type) code \(code)"
      )
    case .notSent(let reason): ("not-sent", "not sent: \(reason)", nil, reason)
    case .missed(let count): ("missed", "and \(count - 1) after it not sent: this host had no time", nil, nil)
    case .cancelled: ("cancelled", "cancelled", nil, nil)
    case .late(let rtt): ("late", "\(Self.milliseconds(rtt)), after it counted as lost", rtt, nil)
    case .duplicate: ("duplicate", "answered once more", nil, nil)
    case .corrupt: ("corrupt", "a reply with other bytes than were sent", nil, nil)
    case .finished: ("finished", "finished", nil, nil)
    case .removed: ("removed", "removed", nil, nil)
    case .overflow(let count): ("overflow", "\(count) events missing", nil, "\(count) events missing")
    }
  }

  static func milliseconds(_ nanoseconds: Int64) -> String {
    DriveStatus.decimal(Double(nanoseconds) / 1e6, places: 3) + " ms"
  }
}
