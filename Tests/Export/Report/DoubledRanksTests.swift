import Testing

@testable import Export

/// The ranks of the Mann-Whitney test.
@Suite struct DoubledRanksTests {
  @Test("when all values differ, then ranks are 1, 2, 3, and there are no ties")
  func withoutTies() {
    let ranks = DoubledRanks([10, 30], [20, 40])
    // Ranks 1 and 3, times two.
    #expect(ranks.sumOfFirst == 8)
    #expect(ranks.ties == 0)
  }

  @Test("when values are equal, then they share the mean of their ranks, in both samples")
  func sharedRanks() {
    // 5, 5, 5 have the ranks 1, 2, 3: each 2. 7, 7 have 4 and 5: each 4.5.
    let ranks = DoubledRanks([5, 7], [5, 5, 7])
    #expect(ranks.sumOfFirst == 13)
    // 3³ - 3 and 2³ - 2.
    #expect(ranks.ties == 30)
  }

  @Test("when a sample is empty, then its sum is 0, and its only division has the probability 1")
  func empty() {
    let ranks = DoubledRanks([], [1, 2])
    #expect(ranks.sumOfFirst == 0)
    #expect(ranks.exactProbability(first: 0) == 1)
  }

  @Test("when the first sample has the lowest ranks, then the probability is that of the two extreme divisions")
  func extreme() {
    // 2 of 20 ways to choose 3 of 6.
    #expect(DoubledRanks([1, 2, 3], [4, 5, 6]).exactProbability(first: 3) == 0.1)
    #expect(DoubledRanks([4, 5, 6], [1, 2, 3]).exactProbability(first: 3) == 0.1)
    #expect(DoubledRanks([1], [1]).exactProbability(first: 1) == 1)
  }
}
