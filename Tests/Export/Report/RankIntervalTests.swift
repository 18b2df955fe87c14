import Testing

@testable import Export

@Suite struct RankIntervalTests {
  @Test("The ranks are those that scipy's binomial distribution gives")
  func ranks() {
    // ppf and cdf of scipy.stats.binom.
    let interval = RankInterval(count: 100, quantile: 0.5)
    #expect(interval.lower == 40)
    #expect(interval.upper == 61)
  }

  /// The probability of `successes` or fewer, as a product of fractions: no logarithms.
  private func cumulated(_ successes: Int, of count: Int, _ quantile: Double) -> Double {
    (0...successes).reduce(0) { sum, hits in
      sum
        + (0..<count).reduce(1) { product, step in
          product * (step < hits ? quantile * Double(count - step) / Double(step + 1) : 1 - quantile)
        }
    }
  }

  @Test(
    "Each tail beyond the ranks has at most 2.5 %, and one rank further in it would have more",
    arguments: [0.05, 0.5, 0.9, 0.95])
  func tails(quantile: Double) {
    for count in Array(1...40) + [80, 100] {
      let interval = RankInterval(count: count, quantile: quantile)
      // Below the lower rank: fewer values under the quantile than the rank.
      if let lower = interval.lower { #expect(cumulated(lower - 1, of: count, quantile) <= 0.025) }
      #expect(cumulated(interval.lower ?? 0, of: count, quantile) > 0.025, "\(count)")
      if let upper = interval.upper {
        #expect(1 - cumulated(upper - 1, of: count, quantile) <= 0.025 + 1e-12)
        #expect(upper == 1 || 1 - cumulated(upper - 2, of: count, quantile) > 0.025 - 1e-12, "\(count)")
      } else {
        #expect(1 - cumulated(count - 1, of: count, quantile) > 0.025, "\(count)")
      }
    }
  }

  @Test("With more values, the interval of the median becomes narrower in proportion, and has the median in it")
  func narrower() throws {
    var last = 1.0
    for count in [10, 100, 1000, 10_000, 100_000, 1_000_000] {
      let interval = RankInterval(count: count, quantile: 0.5)
      let (lower, upper) = (try #require(interval.lower), try #require(interval.upper))
      #expect(lower <= count / 2 && count / 2 < upper)
      let width = Double(upper - lower) / Double(count)
      // About 1.96 divided by the square root of the count.
      #expect(width < last && abs(width * Double(count).squareRoot() - 1.96) < 0.6, "\(count): \(width)")
      last = width
    }
  }

  @Test("With too few values, a side has no rank")
  func few() {
    let five = RankInterval(count: 5, quantile: 0.5)
    #expect(five.lower == nil && five.upper == nil)
    let six = RankInterval(count: 6, quantile: 0.5)
    #expect(six.lower == 1 && six.upper == 6)
    let high = RankInterval(count: 100, quantile: 0.99)
    #expect(high.lower == 97 && high.upper == nil)
    #expect(RankInterval(count: 0, quantile: 0.5).lower == nil)
  }
}
