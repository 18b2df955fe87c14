import Coverage
import Foundation

/// The Mann-Whitney U test (Wilcoxon's rank-sum test): are the values of two unpaired samples equally large?
///
/// It assumes that all values are independent; no distribution of them. Equal values share their ranks. For at most
/// ``mostExact`` values together, the probability is exact: all divisions of the ranks into two samples of these sizes are
/// equally likely without a difference. Beyond that, U is approximated as normal with the corrections for ties and for
/// continuity.
struct RankSum: Hashable, Sendable {
  /// The number of values of the first sample.
  let first: Int
  /// The number of values of the second sample.
  let second: Int
  /// The pairs of a first and a second value in which the first is greater; equal ones count as a half.
  let u: Double
  /// The probability of a U at least this far from its mean if there is no difference; two-sided.
  let probability: Double
  /// Whether the probability is exact.
  let isExact: Bool
  /// By how much the second values are greater: the median of all pairs' differences, after Hodges and Lehmann, in the unit of the values.
  let shift: Int64
  /// Its interval at 95 % confidence, by the normal approximation of U.
  let interval: ClosedRange<Int64>

  /// With fewer values on a side, no samples of equal size could differ significantly.
  static let fewest = 4
  /// The most values together with an exact probability.
  static let mostExact = 50

  /// The share of pairs in which the second value is greater, 0 to 1; equal ones count as a half.
  var secondIsGreater: Double { 1 - u / (Double(first) * Double(second)) }

  /// `nil` for fewer than ``fewest`` values on a side.
  init?(_ firstValues: [Int64], _ secondValues: [Int64]) {
    guard min(firstValues.count, secondValues.count) >= Self.fewest else { return nil }
    (first, second) = (firstValues.count, secondValues.count)
    let ranks = DoubledRanks(firstValues, secondValues)
    let smallest = Double(first) * Double(first + 1) / 2
    u = Double(ranks.sumOfFirst) / 2 - smallest
    isExact = first + second <= Self.mostExact
    probability = isExact ? ranks.exactProbability(first: first) : Self.normal(u, first, second, ties: ranks.ties)
    let differences = PairDifferences(firstValues.sorted(), secondValues.sorted())
    let deviation = (Double(first) * Double(second) * Double(first + second + 1) / 12).squareRoot()
    let pairs = first * second
    let tail = max(1, Int((Double(pairs) / 2 - StudentT.normalQuantile * deviation).rounded()))
    shift = differences.value(atRank: (pairs + 1) / 2)
    let lower = differences.value(atRank: tail)
    interval = lower...max(lower, differences.value(atRank: pairs + 1 - tail))
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

/// The differences of all pairs of a first and a second value, second less first, without a list of them.
private struct PairDifferences {
  private let first: [Int64]
  private let second: [Int64]

  /// Both in ascending order, and not empty.
  init(_ first: [Int64], _ second: [Int64]) { (self.first, self.second) = (first, second) }

  /// The difference at a rank, 1 to the number of pairs.
  func value(atRank rank: Int) -> Int64 {
    var low = second[0].saturatingSubtracting(first[first.count - 1])
    var high = second[second.count - 1].saturatingSubtracting(first[0])
    while low < high {
      let middle = low + high.saturatingSubtracting(low) / 2
      if count(upTo: middle) >= rank { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func count(upTo difference: Int64) -> Int {
    var (count, seconds) = (0, 0)
    for value in first {
      while seconds < second.count, second[seconds].saturatingSubtracting(value) <= difference { seconds += 1 }
      count += seconds
    }
    return count
  }
}

/// The ranks of two samples in their common order, times two. Equal values share the mean of their ranks, which can be a
/// half; doubled, all ranks are integers. ``RankSum`` uses them.
struct DoubledRanks {
  /// The doubled ranks of both samples, in ascending order.
  private let ranks: [Int]
  /// The sum of the doubled ranks of the first sample.
  let sumOfFirst: Int
  /// The sum of t³ - t over the groups of t equal values: the correction of the variance for ties.
  let ties: Double

  init(_ first: [Int64], _ second: [Int64]) {
    let sorted = (first.map { ($0, true) } + second.map { ($0, false) }).sorted { $0.0 < $1.0 }
    var (ranks, sum, ties, start) = ([Int](), 0, 0.0, 0)
    while start < sorted.count {
      let end = sorted[start...].firstIndex { $0.0 != sorted[start].0 } ?? sorted.count
      // The mean of the ranks start + 1 to end, times two.
      let (rank, equal) = (start + end + 1, Double(end - start))
      ranks += Array(repeating: rank, count: end - start)
      sum += rank * sorted[start..<end].count { $0.1 }
      ties += equal * (equal * equal - 1)
      start = end
    }
    (self.ranks, sumOfFirst, self.ties) = (ranks, sum, ties)
  }

  /// The two-sided probability of ``sumOfFirst`` if each choice of `first` of all ranks is equally likely: twice the smaller
  /// tail, at most 1. The ranks must be at most 50 (``RankSum/mostExact``): time and memory grow with their number, and so do
  /// the counts.
  /// - Parameter first: The size of the first sample.
  func exactProbability(first: Int) -> Double {
    // ways[k][s]: the number of choices of k ranks with the sum s. Whole numbers below 2^53 are exact in a Double; there are
    // fewer than 2^47 choices of 25 ranks out of 50.
    let greatest = ranks.suffix(first).reduce(0, +)
    var ways = Array(repeating: Array(repeating: 0.0, count: greatest + 1), count: first + 1)
    ways[0][0] = 1
    for (seen, rank) in ranks.enumerated() {
      // Downwards, so that each rank is chosen at most once.
      for chosen in stride(from: min(seen + 1, first), through: 1, by: -1) {
        for sum in stride(from: greatest, through: rank, by: -1) { ways[chosen][sum] += ways[chosen - 1][sum - rank] }
      }
    }
    let all = ways[first].reduce(0, +)
    let (below, above) = (ways[first][...sumOfFirst].reduce(0, +), ways[first][sumOfFirst...].reduce(0, +))
    return min(1, 2 * min(below, above) / all)
  }
}
