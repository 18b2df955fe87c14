/// Decides when each target is removed. Removing a target cancels its pings under way, and the verdicts of all
/// targets together may not fit into a pinger's ring. A pure value.
struct PingDeparture {
  /// Half of the default ring of a pinger, the smallest one of a run.
  static let eventsAtOnce: UInt64 = 2048

  /// The targets that are not removed yet, in order.
  private var staying: ArraySlice<Int>
  /// The number of verdicts still expected, for each removed target.
  private var owed: [Int: UInt64] = [:]
  /// The sum of ``owed``.
  private var owedEvents: UInt64 = 0

  init(of targets: Range<Int>) {
    staying = Array(targets)[...]
  }

  /// - Parameter underWay: Returns the number of pings of a target without a verdict.
  /// - Returns: The targets to remove now.
  mutating func next(underWay: (Int) -> UInt64) -> [Int] {
    var leaving: [Int] = []
    while let target = staying.first {
      // The verdicts, and the event that reports the removal. The first target goes even if it has more than fit.
      let events = underWay(target) + 1
      guard owed.isEmpty || owedEvents + events <= Self.eventsAtOnce else { break }
      owed[target] = events
      owedEvents += events
      leaving.append(target)
      staying.removeFirst()
    }
    return leaving
  }

  /// The last event of a target has arrived.
  mutating func hasLeft(_ target: Int) {
    owedEvents -= owed.removeValue(forKey: target) ?? 0
  }

  /// Events are missing: targets whose verdicts are expected may be gone already.
  mutating func losesCount() {
    owed = [:]
    owedEvents = 0
  }
}
