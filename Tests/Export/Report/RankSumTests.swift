import TestSupport
import Testing

@testable import Export

/// The Mann-Whitney test for values that are alike in a row, against its definition, and against scipy's figures for independent ones.
@Suite struct RankSumTests {
  /// `count` values: the remainders of multiples of `step`, with `more` added. They are in no order.
  private func remainders(_ count: Int64, _ step: Int64, _ modulus: Int64, _ more: Int64) -> [Int64] {
    (0..<count).map { number -> Int64 in number * step % modulus + more }
  }

  @Test("when values are independent, then the probability is like that of scipy's mannwhitneyu")
  func independent() throws {
    var random = SeededGenerator(seed: 5)
    func values(_ range: ClosedRange<Int64>) -> [Int64] {
      (0..<200).map { _ in Int64.random(in: range, using: &random) }
    }
    let (first, second) = (values(0...1000), values(90...1090))
    let test = try #require(RankSum(first, second))
    let u = first.reduce(0) { sum, one in second.reduce(sum) { $0 + (one < $1 ? 2 : one == $1 ? 1 : 0) } }
    #expect(test.secondIsGreater == Double(u) / 80_000 && (test.first, test.second) == (200, 200))
    // The standard error of independent values: sqrt(401 / 12) / 200.
    let error = (test.secondIsGreater - 0.5) / 0.0289
    #expect((2...5).contains(error) && test.difference.probability < 0.05)
    #expect((100...800).contains(test.difference.effective))
  }

  @Test("when the samples are swapped, then the probability is the same, and difference and share are inverted")
  func symmetry() throws {
    let (first, second) = (remainders(31, 37, 101, 0), remainders(25, 53, 101, 20))
    let (test, turned) = (try #require(RankSum(first, second)), try #require(RankSum(second, first)))
    #expect(abs(test.difference.probability - turned.difference.probability) < 1e-12)
    #expect(abs(test.secondIsGreater + turned.secondIsGreater - 1) < 1e-12 && test.secondIsGreater > 0.5)
    #expect(test.difference.effect == -turned.difference.effect)
    #expect(
      test.difference.lower == -turned.difference.upper && test.difference.upper == -turned.difference.lower)
  }

  @Test(
    "when a side has fewer than twenty values, equal ones only, or values that are all alike, then there is no test")
  func few() throws {
    let enough = remainders(20, 7, 31, 0)
    #expect(RankSum(enough, enough) != nil)
    #expect(RankSum(Array(enough.dropLast()), enough) == nil && RankSum(enough, []) == nil)
    #expect(RankSum(Array(repeating: .max, count: 40), Array(repeating: .max, count: 40)) == nil)
    #expect(RankSum(Array(0..<100), enough) == nil, "a rising row has no independent values")
  }

  @Test("when all second values are greater, then the sides differ")
  func apart() throws {
    let test = try #require(RankSum(remainders(20, 7, 31, 0), remainders(20, 11, 31, 1000)))
    #expect(test.secondIsGreater == 1 && test.difference.probability < 0.01)
    #expect(
      test.difference.lower > 950 && test.difference.upper < 1050 && test.difference.lower < test.difference.upper)
  }

  @Test("when values are the largest and the smallest numbers, then nothing overflows")
  func hostile() throws {
    var random = SeededGenerator(seed: 6)
    let (first, second) = (
      (0..<40).map { _ in Bool.random(using: &random) ? Int64.min : 0 },
      (0..<40).map { _ in Bool.random(using: &random) ? Int64.max : 0 }
    )
    let test = try #require(RankSum(first, second))
    #expect(test.secondIsGreater > 0.5 && (0...1).contains(test.difference.probability))
  }

  @Test("when samples differ, then shift and interval are the ranks of all pairs' differences, and agree with the test")
  func shift() throws {
    var random = SeededGenerator(seed: 8)
    for more in 0..<30 {
      let first = (0..<30).map { _ in Int64.random(in: -500...500, using: &random) }
      let second = (0..<33).map { _ in Int64.random(in: -500...500, using: &random) + Int64(more * 15) }
      let test = try #require(RankSum(first, second))
      let pairs = first.flatMap { one in second.map { $0 - one } }.sorted()
      let difference = test.difference
      #expect(difference.effect == Double(pairs[(pairs.count + 1) / 2 - 1]))
      #expect(difference.lower <= difference.effect && difference.effect <= difference.upper)
      // Above 0 is the interval of values that differ; at the edge, ranks are rounded.
      if test.difference.probability < 0.045 { #expect(difference.lower > 0 || difference.upper < 0) }
      if test.difference.probability > 0.055 { #expect(difference.lower <= 0 && 0 <= difference.upper) }
    }
  }
}
