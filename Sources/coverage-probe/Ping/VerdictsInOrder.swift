import Pinging

/// Sorts verdicts into the order of sending: a loss is known a timeout later than the answers to the pings beside it.
struct VerdictsInOrder {
  /// The verdict on one ping; `slot` is its scheduled time on CLOCK_BOOTTIME in nanoseconds.
  struct Verdict {
    let number: UInt64
    let slot: UInt64
    let reply: Reply

    var isAnswered: Bool { if case .none = reply { false } else { true } }
  }

  /// How a ping was answered.
  enum Reply {
    case inTime(rtt: Int64, PingEvent.OneWay?)
    /// The server refused the token (RE01).
    case refusal
    case none
  }

  /// The most verdicts that wait for an earlier one. By then the earlier one was among missing events, or belongs to
  /// a ping lost in a flood, and is skipped.
  static let patience = 16_384

  /// The number of the next ping to settle.
  private var next: UInt64 = 0
  /// Verdicts that wait for an earlier one, by the number of the ping.
  private var waiting: [UInt64: Verdict] = [:]
  /// Pings that were never sent or were cancelled, by the number of the first: how many in a row.
  private var skipped: [UInt64: UInt64] = [:]

  /// Adds the verdict of an event.
  /// - Returns: The verdicts that are settled now, in order.
  mutating func add(_ event: PingEvent) -> [Verdict] {
    // The verdict of a skipped ping comes too late to be sorted.
    guard event.number >= next else { return [] }
    switch event.kind {
    case .answered(let rtt): wait(event, .inTime(rtt: rtt, event.oneWay))
    case .refused: wait(event, .refusal)
    case .lost, .icmpError, .notSent: wait(event, .none)
    case .missed(let count): skipped[event.number] = count
    case .cancelled: skipped[event.number] = 1
    default: return []
    }
    var settled: [Verdict] = []
    while true {
      if let verdict = waiting.removeValue(forKey: next) {
        settled.append(verdict)
        next += 1
      } else if let count = skipped.removeValue(forKey: next) {
        next += count
      } else if waiting.count > Self.patience, let least = waiting.keys.min() {
        next = least
        skipped = skipped.filter { $0.key >= least }
      } else {
        return settled
      }
    }
  }

  private mutating func wait(_ event: PingEvent, _ reply: Reply) {
    waiting[event.number] = Verdict(number: event.number, slot: event.slot, reply: reply)
  }
}
