import Testing

@testable import Export

@Suite struct SignedRankTests {
  @Test("Rank sum and probability are those of scipy's wilcoxon(method='approx', correction=False)")
  func scipy() throws {
    let test = try #require(SignedRank([1, 2, 2, -3, 4, 5, 0, 6, -1, 7, 8, 9, 10]))
    #expect(test.count == 12)
    #expect(test.positiveRanks == 71.5)
    #expect(abs(test.probability - 0.010726857857329037) < 1e-12)
    #expect(test.isSignificant)
  }

  @Test("Inverted signs give the same probability")
  func symmetry() throws {
    let values: [Double] = [1, 2, 3, 4, 5, 6, -7, -8, 9, 10, 11]
    #expect(try #require(SignedRank(values)).probability == #require(SignedRank(values.map { -$0 })).probability)
  }

  @Test(
    "Of all signs of ten different ranks, the probability is near the share of rank sums at least as far from their mean"
  )
  func exact() throws {
    let sums = (0..<1024).map { signs in (1...10).reduce(0) { $0 + (signs >> ($1 - 1) & 1) * $1 } }
    for signs in [0, 1, 2, 7, 31, 100, 500, 777] {
      let test = try #require(SignedRank((1...10).map { Double($0) * (signs >> ($0 - 1) & 1 == 1 ? 1 : -1) }))
      #expect(test.positiveRanks == Double(sums[signs]))
      let distance = abs(test.positiveRanks - 27.5)
      let share = Double(sums.count { abs(Double($0) - 27.5) >= distance }) / 1024
      #expect(abs(test.probability - share) < 0.06, "\(signs): \(test.probability), exactly \(share)")
    }
  }

  @Test("There is no test for too few differences; infinite differences and NaN do not count")
  func few() {
    #expect(SignedRank(Array(repeating: 0, count: 50)) == nil)
    #expect(SignedRank((1...9).map(Double.init)) == nil)
    #expect(SignedRank((1...9).map(Double.init) + [.nan, .infinity]) == nil)
  }
}
