import Foundation
import TestSupport
import Testing

@testable import Export

/// The Mann-Whitney test, against scipy's figures and against counting all divisions.
@Suite struct RankSumTests {
  @Test(
    "when samples are small, then U and probability are those of scipy's mannwhitneyu over all permutations",
    arguments: [
      ([1, 2, 3, 4], [5, 6, 7, 8], 0, 0.02857142857142857),
      ([1, 2, 2, 3, 9], [2, 4, 4, 5], 6, 0.3492063492063492),
      ([5, 5, 5, 5], [5, 5, 5, 5], 8, 1),
      ([10, 12, 14, 16, 40, 41], [11, 13, 15, 17, 18, 60, 61], 16, 0.5337995337995338),
      ([1, 1, 2, 2], [2, 2, 3, 3, 3], 2, 0.09523809523809523),
    ] as [([Int64], [Int64], Double, Double)])
  func exact(first: [Int64], second: [Int64], u: Double, probability: Double) throws {
    let test = try #require(RankSum(first, second))
    #expect(test.isExact && test.u == u)
    #expect(abs(test.probability - probability) < 1e-12)
    #expect((test.first, test.second) == (first.count, second.count))
  }

  @Test("when samples are large, then the probability is that of scipy's mannwhitneyu(method='asymptotic')")
  func approximation() throws {
    let test = try #require(RankSum(remainders(30, 37, 101, 0), remainders(25, 53, 101, 20)))
    #expect(!test.isExact && test.u == 256.5 && test.probability < 0.05)
    #expect(abs(test.probability - 0.04606295953805587) < 1e-12)
    let tied = try #require(RankSum(remainders(30, 7, 13, 0), remainders(25, 5, 13, 1)))
    #expect(tied.u == 310 && tied.probability > 0.05)
    #expect(abs(tied.probability - 0.2743099491747316) < 1e-12)
  }

  /// `count` values: the remainders of multiples of `step`, with `more` added.
  private func remainders(_ count: Int64, _ step: Int64, _ modulus: Int64, _ more: Int64) -> [Int64] {
    (0..<count).map { number -> Int64 in number * step % modulus + more }
  }

  /// The two-sided probability by going through all divisions of the values into samples of these sizes.
  private func counted(_ first: [Int64], _ second: [Int64]) -> Double {
    func doubledU(_ one: [Int64], _ other: [Int64]) -> Int {
      one.reduce(0) { sum, value in other.reduce(sum) { $0 + ($1 < value ? 2 : $1 == value ? 1 : 0) } }
    }
    let (all, observed) = (first + second, doubledU(first, second))
    var (below, above, divisions) = (0, 0, 0)
    for chosen in 0..<(1 << all.count) where chosen.nonzeroBitCount == first.count {
      let one = all.indices.filter { chosen >> $0 & 1 == 1 }.map { all[$0] }
      let other = all.indices.filter { chosen >> $0 & 1 == 0 }.map { all[$0] }
      let found = doubledU(one, other)
      divisions += 1
      if found <= observed { below += 1 }
      if found >= observed { above += 1 }
    }
    return min(1, 2 * Double(min(below, above)) / Double(divisions))
  }

  @Test("when random samples with many equal values are tested, then counting all divisions gives the same probability")
  func counting() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<12 {
      let first = (0..<Int.random(in: 4...6, using: &random)).map { _ in Int64.random(in: 0...5, using: &random) }
      let second = (0..<Int.random(in: 4...5, using: &random)).map { _ in Int64.random(in: 1...6, using: &random) }
      #expect(abs(try #require(RankSum(first, second)).probability - counted(first, second)) < 1e-12)
    }
  }

  @Test("when the samples are swapped, then the probability is the same, and the share of greater values is inverted")
  func symmetry() throws {
    let (first, second): ([Int64], [Int64]) = ([3, 9, 9, 12, 15], [9, 10, 20, 21, 22, 30])
    let (test, turned) = (try #require(RankSum(first, second)), try #require(RankSum(second, first)))
    #expect(test.probability == turned.probability)
    #expect(abs(test.secondIsGreater + turned.secondIsGreater - 1) < 1e-12)
    #expect(test.secondIsGreater > 0.5)
  }

  @Test("when a side has fewer than four values, then there is no test")
  func few() throws {
    #expect(RankSum([1, 2, 3], Array(10...40)) == nil)
    #expect(RankSum(Array(10...40), []) == nil)
    #expect(try #require(RankSum([1, 2, 3, 4], [5, 6, 7, 8])).probability < 0.05, "the smallest samples can differ")
  }

  @Test("when values are the largest and the smallest numbers, then they are ranked like others")
  func hostile() throws {
    let test = try #require(RankSum([.min, .min, -1, 0], [.max, .max, 1, 2]))
    #expect(test.u == 0 && test.probability < 0.05)
    let same = try #require(
      RankSum(Array(repeating: .max, count: 40), Array(repeating: .max, count: 40)), "all ranks are shared")
    #expect(same.probability == 1 && !same.isExact)
  }

  @Test("when samples are just large enough for the approximation, then it is close to the exact probability")
  func border() throws {
    let first = remainders(25, 3, 1000, 0)
    for shift: Int64 in [1, 9, 17, 25, 33] {
      let second = remainders(25, 3, 1000, shift)
      let exact = try #require(RankSum(first, second))
      let more = try #require(RankSum(first + [37], second))
      #expect(exact.isExact && !more.isExact)
      #expect(abs(exact.probability - more.probability) < 0.1, "\(shift)")
    }
  }

  @Test("when samples differ, then shift and interval are the ranks of all pairs' differences")
  func shift() throws {
    var random = SeededGenerator(seed: 8)
    for count in [4, 9, 30] {
      let first = (0..<count).map { _ in Int64.random(in: -50...50, using: &random) }
      let second = (0..<count + 3).map { _ in Int64.random(in: -30...90, using: &random) }
      let test = try #require(RankSum(first, second))
      let pairs = first.flatMap { one in second.map { $0 - one } }.sorted()
      #expect(test.shift == pairs[(pairs.count + 1) / 2 - 1])
      #expect(test.interval.contains(test.shift))
      let below = pairs.count { $0 < test.interval.lowerBound }
      let deviation = (Double(pairs.count) * Double(2 * count + 4) / 12).squareRoot()
      #expect(abs(Double(below) - max(0, Double(pairs.count) / 2 - 1.96 * deviation)) <= Double(count))
    }
    #expect(try #require(RankSum([1, 2, 3, 4], [5, 6, 7, 8])).interval == 1...7)
  }
}
