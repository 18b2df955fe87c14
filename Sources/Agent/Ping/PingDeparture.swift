/// Decides which targets are removed when: not all at once, as each cancels its pings under way, and all these verdicts together
/// need not fit into a pinger's ring. A pure value.
struct PingDeparture {
  /// Half of the smallest ring.
  static let eventsAtOnce: UInt64 = 2048

  private var staying: ArraySlice<Int>
  /// What is still to come of those that were removed.
  private var owed: [Int: UInt64] = [:]
  private var owedEvents: UInt64 = 0

  init(of targets: Range<Int>) {
    staying = Array(targets)[...]
  }

  /// - Parameter underWay: How many pings of a target have no verdict.
  /// - Returns: Whom to remove now.
  mutating func next(underWay: (Int) -> UInt64) -> [Int] {
    var leaving: [Int] = []
    while let target = staying.first {
      let events = underWay(target) + 1
      guard owed.isEmpty || owedEvents + events <= Self.eventsAtOnce else { break }
      owed[target] = events
      owedEvents += events
      leaving.append(target)
      staying.removeFirst()
    }
    return leaving
  }

  /// The last event of a target has come.
  mutating func hasLeft(_ target: Int) {
    owedEvents -= owed.removeValue(forKey: target) ?? 0
  }

  /// Events are missing; whoever is waited for may have left.
  mutating func losesCount() {
    owed = [:]
    owedEvents = 0
  }
}
