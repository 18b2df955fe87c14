import Testing

@testable import Report

@Suite struct SignedRankTests {
  @Test("Rank sum and probability are those of scipy's wilcoxon(method='approx', correction=False)")
  func scipy() throws {
    let test = try #require(SignedRank([1, 2, 2, -3, 4, 5, 0, 6, -1, 7, 8, 9, 10]))
    #expect(test.count == 12)
    #expect(test.positiveRanks == 71.5)
    #expect(abs(test.probability - 0.010726857857329037) < 1e-12)
    #expect(test.isSignificant)
  }

  @Test("Signs turned round give the same probability")
  func symmetry() throws {
    let values: [Double] = [1, 2, 3, 4, 5, 6, -7, -8, 9, 10, 11]
    #expect(try #require(SignedRank(values)).probability == #require(SignedRank(values.map { -$0 })).probability)
  }

  @Test("There is no test of too few differences, nor of such as are no numbers")
  func few() {
    #expect(SignedRank(Array(repeating: 0, count: 50)) == nil)
    #expect(SignedRank((1...9).map(Double.init)) == nil)
    #expect(SignedRank((1...9).map(Double.init) + [.nan, .infinity]) == nil)
  }
}
