import Testing

@testable import Report

@Suite struct RankIntervalTests {
  @Test("The ranks are those that scipy's binomial distribution gives")
  func ranks() {
    // ppf and cdf of scipy.stats.binom.
    let interval = RankInterval(count: 100, quantile: 0.5)
    #expect(interval.lower == 40)
    #expect(interval.upper == 61)
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
