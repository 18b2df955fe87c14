import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// Two links over the same road of 200 fences.
private struct TwoLinks {
  var random: SeededGenerator

  /// Delays of 30 ms, plus a random share of the place, plus noise that is skewed like real delays.
  mutating func compared(extraMilliseconds: Double) -> PlaceComparison.Result {
    var comparison = PlaceComparison()
    for index in 0..<200 {
      let place = Double.random(in: 0...25, using: &random)
      for side in PlaceComparison.Side.allCases {
        let extra = side == .second ? extraMilliseconds : 0
        let delays = (0..<20).map { _ in
          30 + place + extra - 12 * log(Double.random(in: 0.000_001...1, using: &random))
        }
        comparison.add(
          .sample(
            latitude: 48 + Double(index) * 0.0005, pings: 21, answered: 20,
            rttSumNanoseconds: Int64(delays.reduce(0, +) * 1_000_000)), to: side)
      }
    }
    return comparison.result()
  }
}

@Suite struct PlaceComparisonTests {
  /// 40 by default, 100 with 200 random orders or more.
  private static let repetitions = UInt64(min(100, max(20, RandomOrders.count / 2)))

  @Test("A difference of 5 ms on one of two links is found, with an interval around it, in each repetition")
  func difference() throws {
    for seed in 1...Self.repetitions {
      var links = TwoLinks(random: SeededGenerator(seed: seed))
      let result = links.compared(extraMilliseconds: 5)
      #expect(result.places.matched == 200)
      #expect(try #require(result.delay).isSignificant)
      #expect((4000...6000).contains(try #require(result.median).value))
    }
  }

  @Test("Without a difference, none is found in 95 % of the repetitions")
  func noDifference() throws {
    var silent: UInt64 = 0
    for seed in 1...Self.repetitions {
      var links = TwoLinks(random: SeededGenerator(seed: seed))
      if try !#require(links.compared(extraMilliseconds: 0).delay).isSignificant { silent += 1 }
    }
    #expect(silent * 100 >= Self.repetitions * 95)
  }

  @Test("The false findings of 2000 repetitions are about the 5 % of the level")
  func level() throws {
    var found = 0
    for seed in 1001...3000 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let differences = (0..<40).map { _ in Double.random(in: -1...1, using: &random) }
      if try #require(SignedRank(differences)).isSignificant { found += 1 }
    }
    #expect((70...130).contains(found))
  }

  @Test("Fences of different places are not matched")
  func elsewhere() {
    var comparison = PlaceComparison()
    comparison.add(.sample(latitude: 48), to: .first)
    comparison.add(.sample(latitude: 48.1), to: .second)
    comparison.add(.sample(latitude: 48, pings: 0, answered: 0), to: .second)
    let result = comparison.result()
    #expect(result.places.first == 1 && result.places.second == 1 && result.places.matched == 0)
    #expect(result.delay == nil && result.median == nil)
  }

  @Test("A cell weighs its pings: means are not averaged")
  func weights() {
    var comparison = PlaceComparison()
    comparison.add(.sample(pings: 10, answered: 10, rttSumNanoseconds: 100), to: .first)
    comparison.add(.sample(pings: 30, answered: 30, rttSumNanoseconds: 900), to: .first)
    comparison.add(.sample(pings: 4, answered: 1, rttSumNanoseconds: 50), to: .second)
    let result = comparison.result()
    #expect(result.tallies[0].mean == 25)
    #expect(result.tallies[1].loss == 0.75)
  }

  @Test("Losses that differ by the same share have the same rank, despite different fractions")
  func ties() throws {
    // Of 10 pings: lost on the first side, and on the second. Each differs by two tenths, but 0.3 - 0.1 and 0.4 - 0.2 are not equal numbers.
    let losses = [(1, 3), (2, 4), (3, 5), (0, 2), (7, 9), (6, 8), (3, 1), (4, 2), (5, 3), (5, 7), (4, 6), (8, 10)]
    var comparison = PlaceComparison()
    for (index, (first, second)) in losses.enumerated() {
      let latitude = 48 + Double(index) * 0.01
      comparison.add(.sample(latitude: latitude, pings: 10, answered: 10 - first), to: .first)
      comparison.add(.sample(latitude: latitude, pings: 20, answered: 20 - 2 * second), to: .second)
    }
    let test = try #require(comparison.result().loss)
    #expect(test.count == 12 && test.positiveRanks == 9 * 6.5)
  }
}
