import Histogram
import Pinging

/// What all pings to one target came to. Verdicts are counted as they come; variation and outages are judged in the order of
/// sending. Pings under way count for nothing.
struct PingStatistics {
  private(set) var answered = 0
  private(set) var refused = 0
  private(set) var lost = 0
  private(set) var lostUp = 0
  private(set) var lostDown = 0
  private(set) var unreachable = 0
  private(set) var notSent = 0
  private(set) var late = 0
  private(set) var duplicates = 0
  private(set) var reordered = 0
  private(set) var corrupt = 0
  private(set) var roundTrip = Spread()
  /// Packet delay variation of the round trip between neighbours (RFC 3393), without its sign.
  private(set) var variation = Spread()
  /// The same for each direction, where the reflector tells its stamps.
  private(set) var variationUp = Spread()
  private(set) var variationDown = Spread()
  private(set) var outages = Outages()
  private var inOrder = VerdictsInOrder()
  private var previous: Answer?

  private struct Answer {
    let number: UInt64
    let rtt: Int64
    let oneWay: PingEvent.OneWay?
  }

  /// Pings that left this host and have a verdict.
  var sent: Int { answered + refused + lost + unreachable }
  /// Answers that measured the way, whether the token was liked or not.
  var replies: Int { answered + refused }
  /// The part of the sent pings without an answer, 0 to 1; `nil` when none was sent.
  var loss: Double? { sent > 0 ? Double(lost + unreachable) / Double(sent) : nil }

  mutating func count(_ event: PingEvent) {
    if event.isReordered { reordered += 1 }
    switch event.kind {
    case .answered(let rtt):
      answered += 1
      roundTrip.record(rtt)
    case .refused(let rtt):
      refused += 1
      roundTrip.record(rtt)
    case .lost(let way):
      lost += 1
      if way == .up { lostUp += 1 }
      if way == .down { lostDown += 1 }
    case .icmpError: unreachable += 1
    case .notSent: notSent += 1
    case .missed(let count): notSent += Int(count)
    case .late: late += 1
    case .duplicate: duplicates += 1
    case .corrupt: corrupt += 1
    case .cancelled, .finished, .removed, .overflow: break
    }
    for verdict in inOrder.take(event) { judge(verdict) }
  }

  private mutating func judge(_ verdict: VerdictsInOrder.Verdict) {
    outages.take(isAnswered: verdict.rtt != nil, number: verdict.number, at: verdict.slot)
    guard let rtt = verdict.rtt else { return }
    let answer = Answer(number: verdict.number, rtt: rtt, oneWay: verdict.oneWay)
    if let previous, previous.number + 1 == answer.number {
      variation.record(abs(answer.rtt - previous.rtt))
      if let now = answer.oneWay, let before = previous.oneWay, !now.isRestarted {
        Self.record(now.upNanoseconds, before.upNanoseconds, in: &variationUp)
        Self.record(now.downNanoseconds, before.downNanoseconds, in: &variationDown)
      }
    }
    previous = answer
  }

  /// A far side's clock can say anything; an hour is no variation of delay.
  private static func record(_ now: Int64, _ before: Int64, in spread: inout Spread) {
    let (difference, isTooLarge) = now.subtractingReportingOverflow(before)
    guard !isTooLarge, difference.magnitude <= 3_600_000_000_000 else { return }
    spread.record(abs(difference))
  }
}

/// The spread of a time: extremes and mean exact, percentiles to three digits, in constant memory.
struct Spread {
  private(set) var count = 0
  private(set) var least = Int64.max
  private(set) var greatest = Int64.min
  private var sum = 0.0
  // A minute is far beyond any timeout that makes sense; what lies above is counted there.
  private static let highest: UInt64 = 60_000_000_000
  private var histogram = Histogram<UInt32>(highestTrackableValue: highest, numberOfSignificantValueDigits: .three)

  mutating func record(_ nanoseconds: Int64) {
    count += 1
    least = min(least, nanoseconds)
    greatest = max(greatest, nanoseconds)
    sum += Double(nanoseconds)
    _ = histogram.record(min(Self.highest, UInt64(max(0, nanoseconds))))
  }

  var mean: Int64? { count > 0 ? Int64((sum / Double(count)).rounded()) : nil }

  /// The value below which `percent` of all lie; `nil` without any.
  func percentile(_ percent: Double) -> Int64? {
    guard count > 0 else { return nil }
    return min(greatest, max(least, Int64(histogram.valueAtPercentile(percent))))
  }
}

/// Puts verdicts into the order of sending: a loss is known a timeout later than the answers to its neighbours.
struct VerdictsInOrder {
  struct Verdict {
    let number: UInt64
    let slot: UInt64
    /// `nil`: not answered.
    let rtt: Int64?
    let oneWay: PingEvent.OneWay?
  }

  /// So many may wait for one verdict; if it has not come by then, it was among events that are missing.
  static let patience = 16_384

  private var next: UInt64 = 0
  private var waiting: [UInt64: Verdict] = [:]
  private var skipped: [UInt64: UInt64] = [:]

  /// - Returns: The verdicts that are settled now, in order.
  mutating func take(_ event: PingEvent) -> [Verdict] {
    switch event.kind {
    case .answered(let rtt), .refused(let rtt): wait(event, rtt)
    case .lost, .icmpError, .notSent: wait(event, nil)
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
      } else {
        return settled
      }
    }
  }

  private mutating func wait(_ event: PingEvent, _ rtt: Int64?) {
    waiting[event.number] = Verdict(number: event.number, slot: event.slot, rtt: rtt, oneWay: event.oneWay)
  }
}

/// Stretches of time without an answer: three pings or more in a row.
struct Outages {
  struct Outage: Hashable {
    /// Number and scheduled time (CLOCK_BOOTTIME) of the first ping without an answer.
    let first: UInt64
    let from: UInt64
    /// How many pings had none.
    let pings: UInt64
    /// To the next answered ping.
    let nanoseconds: UInt64
  }

  static let leastPings: UInt64 = 3

  /// The longest ones are kept when there are many.
  private(set) var longest: [Outage] = []
  private(set) var count = 0
  private var open: (first: UInt64, from: UInt64, pings: UInt64)?

  mutating func take(isAnswered: Bool, number: UInt64, at slot: UInt64) {
    guard isAnswered else {
      open = (open?.first ?? number, open?.from ?? slot, (open?.pings ?? 0) + 1)
      return
    }
    if let open, open.pings >= Self.leastPings {
      count += 1
      longest.append(Outage(first: open.first, from: open.from, pings: open.pings, nanoseconds: slot - open.from))
      if longest.count > 100 {
        longest.sort { $0.nanoseconds > $1.nanoseconds }
        longest.removeLast()
      }
    }
    open = nil
  }

  /// The outage that has not ended, if there is one.
  var current: (first: UInt64, from: UInt64, pings: UInt64)? {
    open.flatMap { $0.pings >= Self.leastPings ? $0 : nil }
  }
}
