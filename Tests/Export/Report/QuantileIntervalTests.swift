import Foundation
import TestSupport
import Testing

@testable import Export

/// The confidence intervals of quantiles of independent values, against sums that are computed independently.
@Suite struct QuantileIntervalTests {
  /// P(X <= successes) for a binomial X, by the recursion of its single probabilities.
  private func binomial(_ successes: Int, of count: Int, _ chance: Double) -> Double {
    var (single, sum) = (pow(1 - chance, Double(count)), 0.0)
    for hits in 0...max(0, successes) where successes >= 0 {
      sum += single
      single *= Double(count - hits) / Double(hits + 1) * chance / (1 - chance)
    }
    return sum
  }

  @Test(
    "when a quantile has an interval, then each side leaves out at most 2.5 %, and one rank less would leave out more")
  func tails() {
    for count in [6, 10, 25, 60, 150] {
      for quantile in [0.25, 0.5, 0.75, 0.9, 0.95] {
        let interval = RankInterval(count: count, quantile: quantile)
        if let lower = interval.lower {
          // The value of rank r is above the quantile when fewer than r values are below it.
          #expect(binomial(lower - 1, of: count, quantile) <= 0.025 + 1e-12)
          #expect(binomial(lower, of: count, quantile) > 0.025 - 1e-12)
        } else {
          #expect(binomial(0, of: count, quantile) > 0.025)
        }
        if let upper = interval.upper {
          #expect(binomial(upper - 1, of: count, quantile) >= 0.975 - 1e-12)
          #expect(binomial(upper - 2, of: count, quantile) < 0.975 + 1e-12)
        } else {
          #expect(binomial(count - 1, of: count, quantile) < 0.975)
        }
      }
    }
  }

  @Test("when 2000 samples are drawn, then about 95 % of the intervals contain the true median or 90th percentile")
  func coverage() throws {
    for (quantile, truth) in [(0.5, 500_000), (0.9, 900_000)] as [(Double, UInt32)] {
      let interval = RankInterval(count: 80, quantile: quantile)
      let (lower, upper) = (try #require(interval.lower), try #require(interval.upper))
      var (random, hits) = (SeededGenerator(seed: 1), 0)
      for _ in 0..<2000 {
        let sample = (0..<80).map { _ in UInt32(random.next() % 1_000_000) }.sorted()
        if sample[lower - 1] <= truth, truth <= sample[upper - 1] { hits += 1 }
      }
      // The discrete interval is a little wider than 95 %.
      #expect((1880...1985).contains(hits), "\(quantile): \(hits)")
    }
  }

  @Test("when there are a million pings, then the interval is close around the quantile")
  func million() throws {
    let interval = RankInterval(count: 1_000_000, quantile: 0.5)
    let (lower, upper) = (try #require(interval.lower), try #require(interval.upper))
    #expect(abs(lower - 499_020) <= 1 && abs(upper - 500_981) <= 1)
  }
}
