import Coverage

/// Outages: runs of pings of one link without an answer, at least ``fewestPings`` of them over at least ``shortest``. They go on across
/// tests, fences, and places without a position; a pause of more than ``longestPause``, and than three intervals, without a ping ends them,
/// because nothing was measured in it (docs/report.md says why).
struct Outages: Sendable {
  struct Outage: Hashable, Sendable {
    /// When its first ping was sent, or its first fence began.
    let began: WallTime
    /// The centre of the fence in which it began, or of the last one before; `nil` before the first one.
    let place: Coordinate?
    /// The name of its link; `nil` in a drive over one link.
    let link: String?
    /// From its first lost ping until the next one after its last was due; of fences, from the entry of the first to the exit of the last.
    var microseconds: Int64
    /// The pings that were lost in a row.
    var pings: Int

    var counts: Bool { pings >= Outages.fewestPings && microseconds >= Outages.shortest }
  }

  /// As `ping` counts them: one or two losses are no run.
  static let fewestPings = 3
  /// In microseconds. A handover, or a radio link that is set up again at once, takes less.
  static let shortest: Int64 = 1_000_000
  /// The longest time between two pings of one outage, in microseconds.
  static let longestPause: Int64 = 5_000_000

  /// Their number.
  private(set) var count = 0
  /// Their time together, in microseconds.
  private(set) var microseconds: Int64 = 0
  /// The longest; the first of several.
  private(set) var longest: Outage?

  mutating func add(_ outage: Outage) {
    guard outage.counts else { return }
    count = count.saturatingAdding(1)
    microseconds = microseconds.saturatingAdding(outage.microseconds)
    if outage.microseconds > longest?.microseconds ?? -1 { longest = outage }
  }

  mutating func add(_ other: Outages) {
    count = count.saturatingAdding(other.count)
    microseconds = microseconds.saturatingAdding(other.microseconds)
    if let outage = other.longest, outage.microseconds > longest?.microseconds ?? -1 { longest = outage }
  }
}
