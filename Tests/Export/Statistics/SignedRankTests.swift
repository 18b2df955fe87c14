import Foundation
import Testing

@testable import Export

@Suite struct SignedRankTests {
  /// The median of the means of all pairs of values, each with itself too.
  private func hodgesLehmann(_ values: [Double]) -> Double {
    let means = values.indices.flatMap { one in values[one...].map { (values[one] + $0) / 2 } }.sorted()
    return (means[(means.count - 1) / 2] + means[means.count / 2]) / 2
  }

  @Test("when differences are independent, then probability and estimate are about those of Wilcoxon's test")
  func classic() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      var series = CorrelatedSeries(length: 0, seed: seed)
      let values = series.values(200).map { $0 + 0.1 }
      let test = try #require(SignedRank(values))
      #expect(test.count == 200 && abs(test.difference.effect - hodgesLehmann(values)) < 1e-9)
      #expect(test.difference.lower < test.difference.effect && test.difference.effect < test.difference.upper)
      #expect((test.difference.lower > 0 || test.difference.upper < 0) == (test.difference.probability < 0.05))
      #expect((60...500).contains(test.difference.effective))
    }
  }

  @Test("when signs are inverted, then probability and interval are those of the opposite")
  func symmetry() throws {
    var series = CorrelatedSeries(length: 4, seed: 3)
    let values = series.values(300)
    let (one, other) = (
      try #require(SignedRank(values)).difference, try #require(SignedRank(values.map { -$0 })).difference
    )
    #expect(abs(one.probability - other.probability) < 1e-9)
    #expect(abs(one.effect + other.effect) < 1e-9 && abs(one.lower + other.upper) < 1e-9)
  }

  @Test("when equal values share ranks, then a difference of some is found; without any spread there is no test")
  func ties() throws {
    let values = (0..<120).map { Double([1, 2, -1, 2, 0, 1][$0 * 7 % 6]) }
    let test = try #require(SignedRank(values))
    #expect(test.difference.probability < 0.001 && (0.5...1.5).contains(test.difference.effect))
    #expect(SignedRank(Array(repeating: 3, count: 50)) == nil)
  }

  @Test("when differences are few, alike in a row or not finite, then there is no test")
  func few() {
    #expect(SignedRank((0..<19).map { Double($0 * 7 % 5) }) == nil)
    #expect(SignedRank((0..<100).map(Double.init)) == nil)
    #expect(SignedRank([]) == nil && SignedRank([.nan, .infinity, 1]) == nil)
  }

  @Test("when a difference grows, then the probability never grows")
  func growing() throws {
    var series = CorrelatedSeries(length: 2, seed: 6)
    let noise = series.values(150)
    let certain = try [0.3, 0.6, 0.9, 1.2].map { shift in
      try #require(SignedRank(noise.map { $0 + shift })).difference.probability
    }
    #expect(certain == certain.sorted(by: >))
  }
}
