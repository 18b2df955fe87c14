import Foundation

/// Wilcoxon's signed-rank test: is the median of paired differences zero?
///
/// It assumes that the pairs are independent and that the differences are symmetric about their median; no normal
/// distribution of them. Differences of zero are left out, equal ones share their ranks, and the distribution of the rank sum
/// is approximated as normal with the correction for ties and without one for continuity.
struct SignedRank: Hashable, Sendable {
  /// The number of differences that are not zero.
  let count: Int
  /// The sum of the ranks of the positive differences.
  let positiveRanks: Double
  /// The probability of a rank sum at least this far from its mean if there is no difference; two-sided.
  let probability: Double

  /// The approximation is not used for fewer differences.
  static let fewest = 10

  /// Whether the difference is significant at the level of 5 %.
  var isSignificant: Bool { probability < 0.05 }

  /// `nil` for fewer than ``fewest`` differences that are not zero.
  init?(_ differences: [Double]) {
    let sorted = differences.filter { $0 != 0 && $0.isFinite }.sorted { abs($0) < abs($1) }
    guard sorted.count >= Self.fewest else { return nil }
    var (positive, ties, start) = (0.0, 0.0, 0)
    while start < sorted.count {
      var end = start + 1
      while end < sorted.count, abs(sorted[end]) == abs(sorted[start]) { end += 1 }
      let equal = Double(end - start)
      // The mean of the ranks start + 1 to end.
      let rank = Double(start + end + 1) / 2
      positive += rank * Double(sorted[start..<end].count { $0 > 0 })
      ties += equal * (equal * equal - 1)
      start = end
    }
    let size = Double(sorted.count)
    let mean = size * (size + 1) / 4
    let variance = size * (size + 1) * (2 * size + 1) / 24 - ties / 48
    guard variance > 0 else { return nil }
    count = sorted.count
    positiveRanks = positive
    // P(|Z| ≥ z) = erfc(z / √2) for a standard normal Z.
    probability = min(1, erfc(abs(positive - mean) / variance.squareRoot() / 2.0.squareRoot()))
  }
}
