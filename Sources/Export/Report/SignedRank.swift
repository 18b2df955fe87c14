import Foundation

/// Wilcoxon's signed-rank test for differences in a row that are alike: is their median zero?
///
/// The signed ranks are taken in the order of the road, and the variance of their mean is that of correlated values (``CorrelatedMean``). The
/// estimate is that of Hodges and Lehmann: the shift without which the signed ranks balance. Its interval has the shifts that the test does
/// not refuse. It assumes differences that are symmetric about their median, and no normal distribution of them.
struct SignedRank: Hashable, Sendable {
  let count: Int
  /// The estimate, in the unit of the differences, with its interval and the probability.
  let difference: Difference

  /// `nil` when the differences are too few, or too much alike in a row.
  init?(_ differences: [Double]) {
    let values = differences.filter(\.isFinite)
    guard let least = values.min(), let greatest = values.max(), least < greatest else { return nil }
    let range = least...greatest
    func shift(_ isBefore: (Double) -> Bool) -> Double {
      Bisection.last(in: range) { shift in isBefore(Self.balance(Self.signedRanks(values, less: shift))) }
    }
    let estimate = (shift { $0 > 0 } + shift { $0 >= 0 }) / 2
    let ranks = Self.signedRanks(values, less: estimate)
    let balance = Self.balance(ranks)
    guard let deviations = CorrelatedMean(SerialBlocks(ranks.map { $0 - balance })), deviations.isEnough else {
      return nil
    }
    let margin = deviations.margin
    count = values.count
    difference = Difference(
      effect: estimate, lower: shift { $0 > margin }, upper: shift { $0 >= -margin },
      probability: StudentT.probability(
        Self.balance(Self.signedRanks(values, less: 0)) / deviations.standardError, freedom: Double(deviations.freedom)),
      effective: deviations.effective)
  }

  /// The mean of signed ranks: above 0 when most differences are. Their sum is exact: ranks are whole numbers.
  private static func balance(_ ranks: [Double]) -> Double { ranks.reduce(0, +) / Double(ranks.count) }

  /// The ranks of the differences by their size, times two, with the signs of the differences. Equal ones share the mean of their ranks.
  private static func signedRanks(_ values: [Double], less shift: Double) -> [Double] {
    let order = values.indices.map { (size: abs(values[$0] - shift), index: $0) }.sorted { $0.size < $1.size }
    var (ranks, start) = ([Double](repeating: 0, count: values.count), 0)
    while start < order.count {
      var end = start + 1
      while end < order.count, order[end].size == order[start].size { end += 1 }
      // The mean of the ranks start + 1 to end, times two.
      let rank = Double(start + end + 1)
      for (size, index) in order[start..<end] where size > 0 { ranks[index] = values[index] > shift ? rank : -rank }
      start = end
    }
    return ranks
  }
}
