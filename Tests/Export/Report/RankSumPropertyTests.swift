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
        (0..<Int.random(in: 4...7, using: &generator)).map { _ in Int64.random(in: 0...15, using: &generator) }
      }
      (first, second) = (values(), values())
    }

    func test(_ change: (Int64) -> Int64 = { $0 }) throws -> RankSum {
      try #require(RankSum(first.map(change), second.map(change)))
    }
  }

  @Test("when the samples are swapped, then the probability is the same, and U counts the other pairs")
  func swapped() throws {
    for seed in RandomOrders.seeds {
      let samples = Samples(seed: seed)
      let (one, other) = (try samples.test(), try #require(RankSum(samples.second, samples.first)))
      #expect(abs(one.probability - other.probability) < 1e-12, "\(samples)")
      #expect(one.u + other.u == Double(samples.first.count * samples.second.count), "\(samples)")
      #expect(abs(one.secondIsGreater + other.secondIsGreater - 1) < 1e-12, "\(samples)")
    }
  }

  @Test("when all values are shifted or stretched, then the result is the same: only their order counts")
  func order() throws {
    for seed in RandomOrders.seeds {
      let samples = Samples(seed: seed)
      let test = try samples.test()
      for change in [{ $0 + 1_000_000 }, { $0 * 7 }, { $0 * $0 * $0 }] as [(Int64) -> Int64] {
        let changed = try samples.test(change)
        #expect(changed.u == test.u && changed.probability == test.probability, "\(samples)")
      }
    }
  }

  @Test("when a probability is computed, then it is between 0 and 1, and U is between 0 and the number of pairs")
  func ranges() throws {
    for seed in RandomOrders.seeds {
      let samples = Samples(seed: seed)
      let test = try samples.test()
      #expect((0...1).contains(test.probability) && test.probability > 0, "\(samples)")
      #expect((0...Double(samples.first.count * samples.second.count)).contains(test.u), "\(samples)")
    }
  }

  @Test("when the second sample grows, then U never grows, and the share of greater second values never falls")
  func monotone() throws {
    for seed in RandomOrders.seeds {
      let samples = Samples(seed: seed)
      var last = try samples.test()
      for step in [1, 2, 4, 8, 16] {
        let next = try #require(RankSum(samples.first, samples.second.map { $0 + Int64(step) }))
        #expect(next.u <= last.u && next.secondIsGreater >= last.secondIsGreater, "\(samples), \(step)")
        last = next
      }
      #expect(last.u == 0 && last.secondIsGreater == 1, "\(samples): each second value is greater now")
    }
  }

  @Test("when values are at the ends of the range, then the ranks are right, and nothing overflows")
  func extremes() throws {
    let test = try #require(RankSum([.min, .min, 0, 1], [.max, .max, .max - 1, 2]))
    #expect(test.u == 0 && test.isExact)
    #expect(abs(test.probability - 2.0 / 70) < 1e-12)
  }
}
