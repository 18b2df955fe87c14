import Coverage
import Pinging

/// The results of all pings to one target. Verdicts are counted as they come; variation and outages are computed in
/// the order of sending. Pings under way are not counted.
struct PingStatistics {
  /// What is counted.
  enum Count: Int, CaseIterable {
    case answered, refused, lost
    /// Of ``lost``, those lost on the way to the far end; known only with a one-way reflector.
    case lostUp
    /// Of ``lost``, those whose answer was lost.
    case lostDown
    /// Pings that an ICMP error reports as undeliverable; they count as lost in ``PingStatistics/loss``.
    case unreachable
    /// Of ``unreachable``, those that a router dropped because their TTL or hop limit was used up.
    case ttlExceeded
    /// Pings that never left this host; they do not count in ``PingStatistics/sent``.
    case notSent
    case cancelled
    /// Of ``cancelled``, those that left this host.
    case cancelledUnderWay
    /// Answers from another address than the pinged one, one for each ping; they are no answers.
    case elsewhere
    /// Answers after the timeout; their pings count as lost.
    case late
    case duplicates, reordered, corrupt
    /// Answered pings without one of the kernel's stamps, or with impossible ones.
    case missingStamps
    case absurdStamps
    /// Answered pings during which the wall clock was set.
    case clockSteps

    /// In JSON (docs/measuring.md).
    var name: String {
      switch self {
      case .lostUp: "lost_up"
      case .lostDown: "lost_down"
      case .ttlExceeded: "ttl_exceeded"
      case .notSent: "not_sent"
      case .cancelledUnderWay: "cancelled_sent"
      case .missingStamps: "missing_stamps"
      case .absurdStamps: "absurd_stamps"
      case .clockSteps: "clock_steps"
      default: "\(self)"
      }
    }
  }

  /// In the order of the cases: a flood counts a million pings a second.
  private var counts = [Int](repeating: 0, count: Count.allCases.count)
  /// The smallest and the largest TTL or hop limit of answers; `nil` without any.
  private(set) var hopLimits: ClosedRange<UInt8>?
  /// Answered pings only: a refusal shows that the path works, not how long an answer takes.
  private(set) var roundTrip: DurationHistogram
  /// Packet delay variation of the round trip between consecutive pings (RFC 3393), as an absolute value.
  private(set) var variation: DurationHistogram
  /// The same for each direction, if the reflector sends its stamps.
  private(set) var variationUp: DurationHistogram
  private(set) var variationDown: DurationHistogram
  private(set) var outages: TargetOutages
  /// Brings verdicts into the order of sending, for variation and outages.
  private var inOrder = VerdictsInOrder()
  /// The last answered ping in the order of sending.
  private var previous: Answer?

  /// An answered ping, to compare the next one with it.
  private struct Answer {
    let number: UInt64
    let rtt: Int64
    let oneWay: PingEvent.OneWay?
  }

  init(isCoarse: Bool = false, leastOutage: UInt64 = TargetOutages.usualLeastPings) {
    let empty = DurationHistogram(isCoarse: isCoarse)
    (roundTrip, variation, variationUp, variationDown) = (empty, empty, empty, empty)
    outages = TargetOutages(leastPings: leastOutage)
  }

  private(set) subscript(count: Count) -> Int {
    get { counts[count.rawValue] }
    set { counts[count.rawValue] = newValue }
  }

  /// Pings that left this host and have a verdict from the network.
  var sent: Int { self[.answered] + self[.refused] + self[.lost] + self[.unreachable] }
  /// Pings that left this host, those without a verdict included.
  var left: Int { sent + self[.cancelledUnderWay] }
  /// The share of sent pings without an answer, 0 to 1; `nil` when none was sent.
  var loss: Double? { sent > 0 ? Double(self[.lost] + self[.unreachable]) / Double(sent) : nil }

  mutating func count(_ event: PingEvent) {
    if event.flags.contains(.reordered) { self[.reordered] += 1 }
    switch event.kind {
    case .answered(let rtt):
      self[.answered] += 1
      roundTrip.record(rtt)
      if let ttl = event.hopLimit {
        hopLimits = min(ttl, hopLimits?.lowerBound ?? ttl)...max(ttl, hopLimits?.upperBound ?? ttl)
      }
      count(stampsOf: event.flags)
    case .refused: self[.refused] += 1
    case .lost(let way):
      self[.lost] += 1
      if way == .up { self[.lostUp] += 1 }
      if way == .down { self[.lostDown] += 1 }
    case .icmpError:
      self[.unreachable] += 1
      if event.isTTLExceeded { self[.ttlExceeded] += 1 }
    case .notSent: self[.notSent] += 1
    case .missed(let count): self[.notSent] = self[.notSent].saturatingAdding(Int(clamping: count))
    case .late: self[.late] += 1
    case .duplicate: self[.duplicates] += 1
    case .corrupt: self[.corrupt] += 1
    case .elsewhere: self[.elsewhere] += 1
    case .cancelled:
      self[.cancelled] += 1
      if event.sent != nil { self[.cancelledUnderWay] += 1 }
    case .finished, .removed, .overflow: break
    }
    for verdict in inOrder.add(event) { evaluate(verdict) }
  }

  private mutating func count(stampsOf flags: PingEvent.Flags) {
    if !flags.isDisjoint(with: [.noSendStamp, .noReceiveStamp]) { self[.missingStamps] += 1 }
    if flags.contains(.absurdStamps) { self[.absurdStamps] += 1 }
    if flags.contains(.clockStep) { self[.clockSteps] += 1 }
  }

  /// Counts a verdict that has its place in the order of sending.
  private mutating func evaluate(_ verdict: VerdictsInOrder.Verdict) {
    outages.count(isAnswered: verdict.isAnswered, number: verdict.number, at: verdict.slot)
    guard case .inTime(let rtt, let oneWay) = verdict.reply else { return }
    let answer = Answer(number: verdict.number, rtt: rtt, oneWay: oneWay)
    // RFC 3393 compares consecutive packets: after a lost ping there is nothing to compare.
    if let previous, previous.number + 1 == answer.number {
      DelayVariation.between(previous.rtt, answer.rtt).map { variation.record($0) }
      if let now = answer.oneWay, let before = previous.oneWay, !now.isRestarted {
        DelayVariation.between(before.upNanoseconds, now.upNanoseconds).map { variationUp.record($0) }
        DelayVariation.between(before.downNanoseconds, now.downNanoseconds).map { variationDown.record($0) }
      }
    }
    previous = answer
  }
}

/// Sorts verdicts into the order of sending: a loss is known a timeout later than the answers to the pings beside it.
struct VerdictsInOrder {
  /// The verdict on one ping; `slot` is its scheduled time on CLOCK_BOOTTIME in nanoseconds.
  struct Verdict {
    let number: UInt64
    let slot: UInt64
    let reply: Reply

    var isAnswered: Bool { if case .none = reply { false } else { true } }
  }

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
