import Coverage

/// Two selections of fences over the same road, place by place.
public struct PlaceComparison: Sendable {
  /// A side of the comparison.
  public enum Side: Int, Hashable, Sendable, CaseIterable {
    case first, second
  }

  /// The pings of one side in a cell, or in several.
  public struct Tally: Hashable, Sendable {
    /// The pings that were sent.
    public internal(set) var pings = 0
    /// Those that were answered.
    public internal(set) var answered = 0
    /// The sum of their delays, in nanoseconds.
    public internal(set) var nanoseconds: Int64 = 0

    mutating func add(_ other: Tally) {
      pings = pings.saturatingAdding(other.pings)
      answered = answered.saturatingAdding(other.answered)
      nanoseconds = nanoseconds.saturatingAdding(other.nanoseconds)
    }

    /// The mean delay in nanoseconds; `nil` without an answer.
    public var mean: Double? { answered > 0 ? Double(nanoseconds) / Double(answered) : nil }

    /// The share of lost pings; `nil` without pings.
    public var loss: Double? { pings > 0 ? Double(pings.saturatingSubtracting(answered)) / Double(pings) : nil }
  }

  /// What the comparison of matched places gives.
  public struct Result: Sendable {
    /// The number of places on either side, and of those on both.
    public let places: (first: Int, second: Int, matched: Int)
    /// The pings of each side at the matched places.
    public let tallies: [Tally]
    /// The median over the places of the differences of mean delays, second less first, with its interval; the value is signed.
    public let median: Percentile?
    /// Whether the delays differ; `nil` when there are too few places.
    public let delay: SignedRank?
    /// Whether the losses differ; `nil` when there are too few places with a difference.
    public let loss: SignedRank?
  }

  /// The cells.
  public let grid: PlaceGrid
  private var cells: [PlaceGrid.Cell: [Tally]] = [:]

  /// Nothing to compare yet.
  public init(grid: PlaceGrid = PlaceGrid()) { self.grid = grid }

  /// Adds a fence to the place in which its centre is.
  public mutating func add(_ fence: Fence, to side: Side) {
    guard fence.pings > 0 else { return }
    cells[grid.cell(of: fence.centre), default: [Tally(), Tally()]][side.rawValue].add(
      Tally(pings: fence.pings, answered: fence.pingsAnswered, nanoseconds: fence.rttSumNanoseconds))
  }

  /// Compares the matched places: those where both sides sent pings.
  public func result() -> Result {
    let matched = cells.sorted { $0.key < $1.key }.map(\.value).filter { $0[0].pings > 0 && $0[1].pings > 0 }
    let delays = matched.compactMap { pair in pair[1].mean.flatMap { second in pair[0].mean.map { second - $0 } } }
    let losses = matched.compactMap { pair in pair[1].loss.flatMap { second in pair[0].loss.map { second - $0 } } }
    let tallies = [0, 1].map { side in matched.reduce(into: Tally()) { $0.add($1[side]) } }
    return Result(
      places: (cells.values.count { $0[0].pings > 0 }, cells.values.count { $0[1].pings > 0 }, matched.count),
      tallies: tallies, median: Self.median(delays), delay: SignedRank(delays), loss: SignedRank(losses))
  }

  private static func median(_ nanoseconds: [Double]) -> Percentile? {
    let microseconds = nanoseconds.map { Int64(($0 / 1000).rounded()) }.sorted()
    guard let middle = microseconds.nearestRank(50) else { return nil }
    let interval = RankInterval(count: microseconds.count, quantile: 0.5)
    return Percentile(
      percent: 50, microseconds: middle, lower: interval.lower.map { microseconds[$0 - 1] },
      upper: interval.upper.map { microseconds[$0 - 1] })
  }
}
