import TestSupport
import Testing

@testable import Export

/// Properties of the Mann-Whitney test for any two samples.
@Suite struct RankSumPropertyTests {
  private struct Samples {
    let first: [Int64]
    let second: [Int64]

    /// Few distinct values, so that there are ties.
    init(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      func values() -> [Int64] {
        (0..<Int.random(in: 20...40, using: &generator)).map { _ in Int64.random(in: 0...15, using: &generator) }
      }
      (first, second) = (values(), values())
    }

    func test(_ change: (Int64) -> Int64 = { $0 }) -> RankSum? { RankSum(first.map(change), second.map(change)) }
  }

  @Test("when a test is made, then it is in its ranges, and shifted or stretched values give the same")
  func invariance() {
    var tests = 0
    for seed in RandomOrders.seeds {
      let samples = Samples(seed: seed)
      guard let test = samples.test() else { continue }
      tests += 1
      #expect((0...1).contains(test.difference.probability) && (0...1).contains(test.secondIsGreater), "\(samples)")
      for (factor, more) in [(1, 1_000_000), (7, 0)] as [(Int64, Int64)] {
        let changed = samples.test { $0 * factor + more }
        #expect(
          changed?.difference.probability == test.difference.probability
            && changed?.secondIsGreater == test.secondIsGreater)
        #expect(changed?.difference.effect == test.difference.effect * Double(factor), "\(samples)")
      }
    }
    #expect(tests * 10 >= Array(RandomOrders.seeds).count * 8, "\(tests)")
  }

  @Test(
    "when the second sample grows, then the share of greater second values never falls, and the difference grows by as much"
  )
  func monotone() throws {
    for seed in RandomOrders.seeds {
      let samples = Samples(seed: seed)
      guard var last = samples.test() else { continue }
      for step in [1, 2, 4, 8, 16] as [Int64] {
        let next = try #require(RankSum(samples.first, samples.second.map { $0 + step }))
        #expect(next.secondIsGreater >= last.secondIsGreater, "\(samples), \(step)")
        #expect(next.difference.effect == (samples.test()?.difference.effect ?? 0) + Double(step))
        last = next
      }
      #expect(last.secondIsGreater == 1, "\(samples): each second value is greater now")
    }
  }
}
