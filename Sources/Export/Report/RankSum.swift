import Foundation

/// The Mann-Whitney U test (Wilcoxon's rank-sum test): are the values of two unpaired samples equally large?
///
/// It assumes that all values are independent; no distribution of them. Equal values share their ranks. For at most
/// ``mostExact`` values together, the probability is exact: all divisions of the ranks into two samples of these sizes are
/// equally likely without a difference. Beyond that, U is approximated as normal with the corrections for ties and for
/// continuity.
public struct RankSum: Hashable, Sendable {
  /// The number of values of the first sample.
  public let first: Int
  /// The number of values of the second sample.
  public let second: Int
  /// The pairs of a first and a second value in which the first is greater; equal ones count as a half.
  public let u: Double
  /// The probability of a U at least this far from its mean if there is no difference; two-sided.
  let probability: Double
  /// Whether the probability is exact.
  let isExact: Bool

  /// With fewer values on a side, no samples of equal size could differ significantly.
  static let fewest = 4
  /// The most values together with an exact probability.
  static let mostExact = 50

  /// Whether the difference is significant at the level of 5 %.
  var isSignificant: Bool { probability < 0.05 }

  /// The share of pairs in which the second value is greater, 0 to 1; equal ones count as a half.
  var secondIsGreater: Double { 1 - u / (Double(first) * Double(second)) }

  /// `nil` for fewer than ``fewest`` values on a side.
  public init?(_ firstValues: [Int64], _ secondValues: [Int64]) {
    guard min(firstValues.count, secondValues.count) >= Self.fewest else { return nil }
    (first, second) = (firstValues.count, secondValues.count)
    let ranks = DoubledRanks(firstValues, secondValues)
    let smallest = Double(first) * Double(first + 1) / 2
    u = Double(ranks.sumOfFirst) / 2 - smallest
    isExact = first + second <= Self.mostExact
    probability = isExact ? ranks.exactProbability(first: first) : Self.normal(u, first, second, ties: ranks.ties)
  }

  /// The two-sided probability by the normal approximation; 1 when all values are equal.
  /// - Parameter ties: The sum of t³ - t over the groups of t equal values.
  private static func normal(_ u: Double, _ first: Int, _ second: Int, ties: Double) -> Double {
    let (pairs, size) = (Double(first) * Double(second), Double(first + second))
    let variance = pairs / 12 * (size + 1 - ties / (size * (size - 1)))
    guard variance > 0 else { return 1 }
    let distance = abs(u - pairs / 2) - 0.5
    return min(1, erfc(distance / (2 * variance).squareRoot()))
  }
}
