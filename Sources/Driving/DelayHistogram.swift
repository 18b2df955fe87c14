import Coverage

/// Round-trip times counted in buckets with fixed bounds, for monitoring systems: histograms of several drives can be added.
public struct DelayHistogram: Hashable, Sendable {
  /// The upper bounds of the buckets in nanoseconds, inclusive; times above the last one are counted in none of them.
  public static let bounds: [Int64] = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000].map { $0 * 1_000_000 }

  /// How many times lie in each bucket and above the bound before it, in the order of ``bounds``.
  private var counts = [Int](repeating: 0, count: bounds.count)
  /// All times.
  public private(set) var count = 0
  /// The sum of all times in nanoseconds; saturates.
  public private(set) var sumNanoseconds: Int64 = 0

  /// No times.
  public init() {}

  /// Counts a round-trip time.
  public mutating func count(_ nanoseconds: Int64) {
    count = count.saturatingAdding(1)
    sumNanoseconds = sumNanoseconds.saturatingAdding(max(0, nanoseconds))
    if let bucket = Self.bounds.firstIndex(where: { nanoseconds <= $0 }) {
      counts[bucket] = counts[bucket].saturatingAdding(1)
    }
  }

  /// How many times are at most each of ``bounds``.
  public var cumulative: [Int] {
    var sum = 0
    return counts.map { count in
      sum = sum.saturatingAdding(count)
      return sum
    }
  }

  /// Adds the times of `other`.
  public mutating func add(_ other: DelayHistogram) {
    for bucket in counts.indices { counts[bucket] = counts[bucket].saturatingAdding(other.counts[bucket]) }
    count = count.saturatingAdding(other.count)
    sumNanoseconds = sumNanoseconds.saturatingAdding(other.sumNanoseconds)
  }
}
