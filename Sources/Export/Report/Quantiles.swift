import Coverage

/// Quantiles of a figure over speed tests, each counted once, in the unit of its values (``SpeedTestQuantity``).
public struct Quantiles: Hashable, Sendable {
  /// The number of values; at least 1.
  public let count: Int
  /// The median by nearest rank.
  public let median: Int64
  /// The lower end of the median's interval at 95 % confidence; `nil` for too few values.
  public let lower: Int64?
  /// The upper end of that interval; `nil` for too few values.
  public let upper: Int64?
  /// The 10th percentile by nearest rank; `nil` for fewer than ``fewestForPercentiles`` values.
  public let tenth: Int64?
  /// The 90th percentile; `nil` as the 10th.
  let ninetieth: Int64?
  /// The least value.
  public let least: Int64
  /// The greatest value.
  public let greatest: Int64

  /// Of fewer values, the 90th percentile is always the greatest one.
  static let fewestForPercentiles = 10

  /// `nil` without values.
  public init?(_ values: [Int64]) {
    let sorted = values.sorted()
    guard let median = sorted.nearestRank(50), let least = sorted.first, let greatest = sorted.last else { return nil }
    let interval = RankInterval(count: sorted.count, quantile: 0.5)
    let hasPercentiles = sorted.count >= Self.fewestForPercentiles
    count = sorted.count
    (self.median, self.least, self.greatest) = (median, least, greatest)
    (lower, upper) = (interval.lower.map { sorted[$0 - 1] }, interval.upper.map { sorted[$0 - 1] })
    (tenth, ninetieth) = hasPercentiles ? (sorted.nearestRank(10), sorted.nearestRank(90)) : (nil, nil)
  }
}
