import Coverage
import Foundation

/// Quantiles of a figure over speed tests, each counted once, in the unit of its values (``SpeedTestQuantity``).
struct Quantiles: Hashable, Sendable {
  /// The number of values; at least 1.
  let count: Int
  /// The median by nearest rank.
  let median: Int64
  /// The lower end of the median's interval at 95 % confidence; `nil` for too few values.
  let lower: Int64?
  /// The upper end of that interval; `nil` for too few values.
  let upper: Int64?
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
  init?(_ values: [Int64]) {
    let sorted = values.sorted()
    guard let median = Percentile(50, ofSorted: sorted), let least = sorted.first, let greatest = sorted.last else {
      return nil
    }
    let hasPercentiles = sorted.count >= Self.fewestForPercentiles
    (count, self.least, self.greatest) = (sorted.count, least, greatest)
    (self.median, lower, upper) = (median.value, median.lower, median.upper)
    (tenth, ninetieth) = hasPercentiles ? (sorted.nearestRank(10), sorted.nearestRank(90)) : (nil, nil)
  }
}

/// The ranks between which a quantile lies with at least 95 % confidence, by order statistics.
///
/// The number of `count` independent values below the true quantile is binomial, whatever their distribution is. So no
/// distribution is assumed. Both tails have at most 2.5 %: P(X < `lower`) and P(X ≥ `upper`) for X binomial with `count` and
/// `quantile`.
struct RankInterval: Hashable, Sendable {
  /// The greatest rank, from 1, that is below the quantile with at least 97.5 % probability; `nil` when none is.
  let lower: Int?
  /// The smallest rank that is above it with at least 97.5 % probability; `nil` when none is.
  let upper: Int?

  private static let tail = 0.025

  /// - Parameters:
  ///   - count: The number of values; without any, both ends are `nil`.
  ///   - quantile: Between 0 and 1.
  init(count: Int, quantile: Double) {
    guard count > 0, quantile > 0, quantile < 1 else {
      (lower, upper) = (nil, nil)
      return
    }
    let size = Double(count)
    let deviation = (size * quantile * (1 - quantile)).squareRoot()
    // Beyond ten standard deviations, nothing is left of the tails' 2.5 %.
    let first = max(0, Int(size * quantile - 10 * deviation) - 20)
    let last = min(count, Int(size * quantile + 10 * deviation) + 20)
    var (cumulated, lower, upper): (Double, Int?, Int?) = (0, nil, nil)
    for successes in first...last {
      cumulated += Self.probability(successes, of: size, quantile)
      if cumulated <= Self.tail { lower = successes + 1 }
      if cumulated >= 1 - Self.tail {
        upper = successes + 1
        break
      }
    }
    self.lower = lower
    self.upper = upper.flatMap { $0 <= count ? $0 : nil }
  }

  /// The binomial probability of this number of values below the quantile. Through logarithms: binomial coefficients of
  /// thousands of values overflow.
  private static func probability(_ successes: Int, of size: Double, _ quantile: Double) -> Double {
    let hits = Double(successes)
    let ways = lgamma(size + 1) - lgamma(hits + 1) - lgamma(size - hits + 1)
    return exp(ways + hits * log(quantile) + (size - hits) * log(1 - quantile))
  }
}

/// A percentile by nearest rank, in the unit of the values.
struct Percentile: Hashable, Sendable {
  /// Which one, 1 to 99.
  let percent: Int
  /// The value.
  let value: Int64
  /// The ends of its interval at 95 % confidence; `nil` when the values are too few for one.
  var lower: Int64?
  var upper: Int64?
  /// The number of independent values that would give this interval; `nil` without one.
  var effective: Double?
}

extension Percentile {
  /// With the interval of independent values, by ``RankInterval``. `nil` without values. They must be in ascending order.
  init?(_ percent: Int, ofSorted values: [Int64]) {
    guard let value = values.nearestRank(percent) else { return nil }
    let interval = RankInterval(count: values.count, quantile: Double(percent) / 100)
    self.init(
      percent: percent, value: value, lower: interval.lower.map { values[$0 - 1] },
      upper: interval.upper.map { values[$0 - 1] })
  }
}
