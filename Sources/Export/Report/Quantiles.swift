import Coverage

/// Quantiles of a figure over speed tests, each counted once, in the unit of its values (``SpeedTestQuantity``).
struct Quantiles: Hashable, Sendable {
  /// The number of values; at least 1.
  let count: Int
  /// The median by nearest rank, with the interval for tests that are alike in a row.
  let median: Percentile
  /// The 10th percentile by nearest rank; `nil` for fewer than ``fewestForPercentiles`` values.
  let tenth: Int64?
  /// The 90th percentile; `nil` as the 10th.
  let ninetieth: Int64?
  /// The least value.
  let least: Int64
  /// The greatest value.
  let greatest: Int64

  /// Of fewer values, the 90th percentile is always the greatest one.
  static let fewestForPercentiles = 10

  /// `nil` without values.
  /// - Parameter values: In the order of the tests.
  init?(_ values: [Int64]) {
    let sorted = values.sorted()
    guard let median = sorted.nearestRank(50), let least = sorted.first, let greatest = sorted.last else { return nil }
    let share = Double(values.count { $0 <= median }) / Double(values.count)
    let position = CorrelatedMean(SerialBlocks(values.map { ($0 <= median ? 1 : 0) - share }))
    let ranks = position?.ranks(around: 50)
    self.median = Percentile(
      percent: 50, value: median, lower: ranks?.lower.map { sorted[$0 - 1] },
      upper: ranks?.upper.map { sorted[$0 - 1] },
      effective: ranks.flatMap { _ in position?.effective })
    let hasPercentiles = sorted.count >= Self.fewestForPercentiles
    (count, self.least, self.greatest) = (sorted.count, least, greatest)
    (tenth, ninetieth) = hasPercentiles ? (sorted.nearestRank(10), sorted.nearestRank(90)) : (nil, nil)
  }
}

/// A percentile by nearest rank, in the unit of the values.
struct Percentile: Hashable, Sendable {
  /// Which one, 1 to 99.
  let percent: Int
  let value: Int64
  /// The ends of its interval at 95 % confidence; `nil` when the values are too few for one.
  var lower: Int64?
  var upper: Int64?
  /// The number of independent values that would give this interval; `nil` without one.
  var effective: Double?
}
