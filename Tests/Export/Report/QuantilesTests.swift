import TestSupport
import Testing

@testable import Export

@Suite struct QuantilesTests {
  @Test("when there are ten values, then percentiles, median and range are each one of these values")
  func ten() throws {
    let quantiles = try #require(Quantiles([100, 20, 30, 40, 50, 60, 70, 80, 90, 10]))
    #expect(quantiles.count == 10 && quantiles.median.value == 50)
    #expect(quantiles.tenth == 10 && quantiles.ninetieth == 90)
    #expect(quantiles.least == 10 && quantiles.greatest == 100)
  }

  @Test("when there are too few values, then percentiles and intervals are absent, but not the median and the range")
  func few() throws {
    #expect(Quantiles([]) == nil)
    let one = try #require(Quantiles([7]))
    #expect(one.median == Percentile(percent: 50, value: 7) && one.least == 7 && one.greatest == 7)
    #expect(one.tenth == nil && one.ninetieth == nil)
    var random = SeededGenerator(seed: 3)
    let nineteen = try #require(Quantiles((0..<19).map { _ in Int64.random(in: 0...99, using: &random) }))
    #expect(nineteen.median.lower == nil && nineteen.median.upper == nil && nineteen.median.effective == nil)
  }

  @Test("when tests in a row are alike, then the interval of the median is wider than that of the same tests shuffled")
  func order() throws {
    var (series, random) = (CorrelatedSeries(length: 3, seed: 12), SeededGenerator(seed: 12))
    let values = series.values(150).map { Int64(1000 * $0) }
    let (alike, shuffled) = (
      try #require(Quantiles(values)).median, try #require(Quantiles(values.shuffled(using: &random))).median
    )
    let widths = try [alike, shuffled].map { try #require($0.upper) - (try #require($0.lower)) }
    #expect(widths[0] > widths[1] * 5 / 4, "\(widths)")
    #expect(alike.value == shuffled.value)
    #expect(try #require(alike.effective) < #require(shuffled.effective) / 2)
    // That of 150 independent values: ranks 63 and 88.
    let sorted = values.sorted()
    #expect((sorted[55]...sorted[70]).contains(try #require(shuffled.lower)))
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
      #expect(quantiles.median.value == defined(50, values))
    }
  }

  @Test("when values are the largest and the smallest numbers, then nothing overflows")
  func hostile() throws {
    let quantiles = try #require(Quantiles(Array(repeating: .max, count: 6) + Array(repeating: .min, count: 6)))
    #expect(quantiles.least == .min && quantiles.greatest == .max && quantiles.median.value == .min)
  }
}
