import Testing

@testable import Coverage

struct NearestRankTests {
  @Test("when there are elements, then the rank is the smallest one that covers the percentage", arguments: 1...300)
  func definition(count: Int) {
    for percent in 1...100 {
      #expect(NearestRank.of(percent, count: count) == (1...count).first { $0 * 100 >= percent * count })
    }
  }

  @Test("when the count is the largest number, then the rank does not overflow")
  func largest() {
    #expect(NearestRank.of(50, count: .max) == .max / 2 + 1)
    #expect(NearestRank.of(100, count: .max) == .max)
  }

  @Test("when an array is empty, then it has no percentile")
  func empty() { #expect([Int]().nearestRank(50) == nil && [3].nearestRank(1) == 3) }
}
