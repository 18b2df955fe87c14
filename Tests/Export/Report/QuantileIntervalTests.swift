import Foundation
import TestSupport
import Testing

@testable import Export

/// The confidence intervals of quantiles and the signed-rank test, against sums and counts that are computed independently.
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

  /// All 2^n signs of the ranks 1 to n.
  private func exact(_ positive: Int, _ count: Int) -> Double {
    var ways = [1.0] + Array(repeating: 0.0, count: count * (count + 1) / 2)
    for rank in 1...count {
      for sum in stride(from: ways.count - 1, through: rank, by: -1) { ways[sum] += ways[sum - rank] }
    }
    let all = pow(2, Double(count))
    let (below, above) = (ways[...positive].reduce(0, +) / all, ways[positive...].reduce(0, +) / all)
    return min(1, 2 * min(below, above))
  }

  @Test("when the normal approximation is used, then it is close to the exact distribution of all signs")
  func approximation() throws {
    for count in [15, 20, 30] {
      for negative in 0...count {
        let differences = (1...count).map { $0 <= negative ? -Double($0) : Double($0) }
        let test = try #require(SignedRank(differences))
        let exact = exact(Int(test.positiveRanks), count)
        #expect(abs(test.probability - exact) < 0.03, "\(count), \(negative)")
      }
    }
  }

  @Test("when all differences are scaled, then the result is the same; equal differences are significant")
  func scaling() throws {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      let differences = (0..<25).map { _ in Double(Int.random(in: -6...8, using: &random)) }
      guard let test = SignedRank(differences), let scaled = SignedRank(differences.map { $0 * 1024 }) else { continue }
      #expect(test == scaled)
      #expect((0...1).contains(test.probability))
      #expect(test.count == differences.count { $0 != 0 })
    }
    let same = try #require(SignedRank(Array(repeating: 3, count: 12)))
    #expect(same.positiveRanks == 78 && same.isSignificant)
  }

  @Test("when a difference grows, then the probability never grows")
  func growing() throws {
    var random = SeededGenerator(seed: 6)
    let noise = (0..<40).map { _ in Double.random(in: -1...1, using: &random) }
    let certain = try [0.3, 0.6, 0.9, 1.2].map { shift in try #require(SignedRank(noise.map { $0 + shift })).probability
    }
    #expect(certain == certain.sorted(by: >))
  }
}
