import Coverage
import OrderedJSON
import Pinging

/// What became of one ping, as a line.
struct PingLine {
  let name: String
  let event: PingEvent

  var text: String { "\(name): ping \(event.number) \(verdict.text)" }

  var json: String {
    JSON.object([
      "target": .string(name),
      "ping": .integer(Int64(event.number)),
      "sequence": .integer(Int64(event.sequence)),
      "verdict": .string(verdict.name),
      "rtt_ms": verdict.rttNanoseconds.map { .decimal(units: $0, places: 6) },
      "send_stamp": verdict.rttNanoseconds.map { _ in .string(event.sendStamp.rawValue) },
      "receive_stamp": verdict.rttNanoseconds.map { _ in .string(event.receiveStamp.rawValue) },
      "from": event.from.map { .string($0.host) },
      "reason": verdict.reason.map(JSON.string),
    ]).text
  }

  private var verdict: (name: String, text: String, rttNanoseconds: Int64?, reason: String?) {
    switch event.kind {
    case .answered(let rtt): ("answered", Self.milliseconds(rtt), rtt, nil)
    case .lost: ("lost", "lost", nil, nil)
    case .refused(let rtt): ("refused", "\(Self.milliseconds(rtt)) (token refused, RE01)", rtt, nil)
    case .icmpError(let type, let code):
      ("icmp-error", "unreachable: ICMP type \(type) code \(code)", nil, "ICMP type \(type) code \(code)")
    case .notSent(let reason): ("not-sent", "not sent: \(reason)", nil, reason)
    case .missed(let count): ("missed", "and \(count - 1) after it not sent: this host had no time", nil, nil)
    case .cancelled: ("cancelled", "cancelled", nil, nil)
    case .late(let rtt): ("late", "\(Self.milliseconds(rtt)), after it counted as lost", rtt, nil)
    case .duplicate: ("duplicate", "answered once more", nil, nil)
    case .finished: ("finished", "finished", nil, nil)
    case .removed: ("removed", "removed", nil, nil)
    case .overflow(let count): ("overflow", "\(count) events missing", nil, "\(count) events missing")
    }
  }

  static func milliseconds(_ nanoseconds: Int64) -> String {
    DriveStatus.decimal(Double(nanoseconds) / 1e6, places: 3) + " ms"
  }
}

/// What all pings to one target came to.
struct PingFigures {
  private var sent = 0
  private var notSent = 0
  private var answered = 0
  private var refused = 0
  private var lost = 0
  private var late = 0
  private var duplicates = 0
  private var least = Int64.max
  private var greatest = Int64.min
  private var sum: Int64 = 0

  /// Answers that measured the way, whether the token was liked or not.
  var replies: Int { answered + refused }

  mutating func count(_ event: PingEvent) {
    switch event.kind {
    case .answered(let rtt):
      answered += 1
      countReply(rtt)
    case .refused(let rtt):
      refused += 1
      countReply(rtt)
    case .lost, .icmpError:
      sent += 1
      lost += 1
    case .notSent: notSent += 1
    case .missed(let count): notSent += Int(count)
    case .cancelled: sent += 1
    case .late: late += 1
    case .duplicate: duplicates += 1
    case .finished, .removed, .overflow: break
    }
  }

  private mutating func countReply(_ rtt: Int64) {
    sent += 1
    sum += rtt
    least = min(least, rtt)
    greatest = max(greatest, rtt)
  }

  private var mean: Int64? { replies > 0 ? sum / Int64(replies) : nil }

  func text(_ name: String) -> String {
    var line = "\(name): \(sent) sent, \(replies) answered, \(lost) lost"
    if notSent > 0 { line += ", \(notSent) not sent" }
    if late > 0 { line += ", \(late) late" }
    if duplicates > 0 { line += ", \(duplicates) duplicate" }
    if let mean {
      let figures = [least, mean, greatest].map(PingLine.milliseconds)
      line += "; min \(figures[0]), mean \(figures[1]), max \(figures[2])"
    }
    return line
  }

  func json(_ name: String) -> String {
    func milliseconds(_ nanoseconds: Int64) -> JSON { .decimal(units: nanoseconds, places: 6) }
    return JSON.object([
      "summary": .object([
        "target": .string(name),
        "sent": .integer(Int64(sent)),
        "answered": .integer(Int64(answered)),
        "refused": .integer(Int64(refused)),
        "lost": .integer(Int64(lost)),
        "not_sent": .integer(Int64(notSent)),
        "late": .integer(Int64(late)),
        "duplicates": .integer(Int64(duplicates)),
        "min_ms": mean.map { _ in milliseconds(least) },
        "mean_ms": mean.map(milliseconds),
        "max_ms": mean.map { _ in milliseconds(greatest) },
      ])
    ]).text
  }
}
