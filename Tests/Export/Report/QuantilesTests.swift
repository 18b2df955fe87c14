import TestSupport
import Testing

@testable import Export

@Suite struct QuantilesTests {
  @Test("when there are ten values, then percentiles, median, interval and range are each one of these values")
  func ten() throws {
    let quantiles = try #require(Quantiles([100, 20, 30, 40, 50, 60, 70, 80, 90, 10]))
    #expect(quantiles.count == 10 && quantiles.median == 50)
    #expect(quantiles.tenth == 10 && quantiles.ninetieth == 90)
    #expect(quantiles.least == 10 && quantiles.greatest == 100)
    // scipy.stats.binom.cdf(1, 10, 0.5) is 0.0107, that of 2 is 0.0547.
    #expect(quantiles.lower == 20 && quantiles.upper == 90)
  }

  @Test("when there are too few values, then percentiles and intervals are absent, but not the median and the range")
  func few() throws {
    #expect(Quantiles([]) == nil)
    let one = try #require(Quantiles([7]))
    #expect(one.median == 7 && one.least == 7 && one.greatest == 7)
    #expect(one.lower == nil && one.upper == nil && one.tenth == nil && one.ninetieth == nil)
    let five = try #require(Quantiles([5, 4, 3, 2, 1]))
    #expect(five.median == 3 && five.lower == nil && five.upper == nil)
    let six = try #require(Quantiles([1, 2, 3, 4, 5, 6]))
    #expect(six.median == 3 && six.lower == 1 && six.upper == 6 && six.tenth == nil)
  }

  /// The percentile by its definition: the smallest value that at least `percent` of the values do not exceed.
  private func defined(_ percent: Int, _ values: [Int64]) -> Int64? {
    values.sorted().first { value in values.count { $0 <= value } * 100 >= percent * values.count }
  }

  @Test("when values are random, then each percentile matches its definition")
  func definition() throws {
    var random = SeededGenerator(seed: 11)
    for count in [10, 11, 19, 20, 57, 200] {
      let values = (0..<count).map { _ in Int64.random(in: -40...60, using: &random) }
      let quantiles = try #require(Quantiles(values))
      #expect(quantiles.tenth == defined(10, values) && quantiles.ninetieth == defined(90, values))
      #expect(quantiles.median == defined(50, values))
    }
  }

  @Test("when values are the largest and the smallest numbers, then nothing overflows")
  func hostile() throws {
    let quantiles = try #require(Quantiles(Array(repeating: .max, count: 6) + Array(repeating: .min, count: 6)))
    #expect(quantiles.least == .min && quantiles.greatest == .max && quantiles.median == .min)
  }
}
