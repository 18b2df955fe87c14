import Coverage

/// Periods without an answer: several pings in a row.
struct TargetOutages {
  /// One period without an answer that has ended.
  struct Outage: Hashable {
    /// Number and scheduled time (CLOCK_BOOTTIME) of the first ping without an answer.
    let first: UInt64
    let from: UInt64
    let pings: UInt64
    /// Time to the next answered ping.
    let nanoseconds: UInt64
  }

  static let usualLeastPings: UInt64 = 3

  /// The 100 longest outages that have ended, in the order of time.
  private(set) var longest: [Outage] = []
  /// All outages that have ended.
  private(set) var count = 0
  private let leastPings: UInt64
  /// The present series of pings without an answer; it becomes an outage with ``leastPings`` of them.
  private var open: (first: UInt64, from: UInt64, pings: UInt64)?

  init(leastPings: UInt64 = usualLeastPings) { self.leastPings = leastPings }

  /// Counts a verdict. Verdicts must come in the order of sending.
  /// - Parameters:
  ///   - isAnswered: Whether any answer came, also a refusal.
  ///   - slot: Its scheduled time on CLOCK_BOOTTIME in nanoseconds.
  mutating func count(isAnswered: Bool, number: UInt64, at slot: UInt64) {
    guard isAnswered else {
      open = (open?.first ?? number, open?.from ?? slot, (open?.pings ?? 0) + 1)
      return
    }
    if let open, open.pings >= leastPings {
      count += 1
      longest.append(
        Outage(
          first: open.first, from: open.from, pings: open.pings, nanoseconds: slot.saturatingSubtracting(open.from)))
      // In bounded memory: a run can last for weeks.
      let shortest = longest.indices.min { longest[$0].nanoseconds < longest[$1].nanoseconds }
      if longest.count > 100, let shortest { longest.remove(at: shortest) }
    }
    open = nil
  }

  /// The outage that has not ended; `nil` when there is none.
  var current: (first: UInt64, from: UInt64, pings: UInt64)? {
    open.flatMap { $0.pings >= leastPings ? $0 : nil }
  }
}
