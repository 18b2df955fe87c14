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
      let found = try #require(result.delay).difference
      #expect(found.probability < 0.001 && (4e6...6e6).contains(found.effect))
      #expect(found.lower > 2e6 && found.lower < found.effect && found.effect < found.upper)
    }
  }

  @Test("Without a difference, none is found in nine of ten repetitions")
  func noDifference() throws {
    var silent: UInt64 = 0
    for seed in 1...Self.repetitions {
      var links = TwoLinks(random: SeededGenerator(seed: seed))
      if try #require(links.compared(extraMilliseconds: 0).delay).difference.probability >= 0.05 { silent += 1 }
    }
    #expect(silent * 10 >= Self.repetitions * 9)
  }

  @Test("Fences of different places are not matched")
  func elsewhere() {
    var comparison = PlaceComparison()
    comparison.add(.sample(latitude: 48), to: .first)
    comparison.add(.sample(latitude: 48.1), to: .second)
    comparison.add(.sample(latitude: 48, pings: 0, answered: 0), to: .second)
    let result = comparison.result()
    #expect(result.places.first == 1 && result.places.second == 1 && result.places.matched == 0)
    #expect(result.delay == nil && result.loss == nil)
  }

  @Test("A cell weighs its pings: means are not averaged")
  func weights() {
    var comparison = PlaceComparison()
    comparison.add(.sample(pings: 10, answered: 10, rttSumNanoseconds: 100), to: .first)
    comparison.add(.sample(pings: 30, answered: 30, rttSumNanoseconds: 900), to: .first)
    comparison.add(.sample(pings: 4, answered: 1, rttSumNanoseconds: 50), to: .second)
    let result = comparison.result()
    #expect(result.sums[0].mean == 25)
    #expect(result.sums[1].loss == 0.75)
  }

  @Test("The difference of losses is that of all places together; a single bad place is not enough for a test")
  func losses() throws {
    var (even, single) = (PlaceComparison(), PlaceComparison())
    for index in 0..<100 {
      let latitude = 48 + Double(index) * 0.01
      for side in PlaceComparison.Side.allCases {
        let lost = side == .second && index * 37 % 10 < 3 ? 5 : 0
        even.add(.sample(latitude: latitude, pings: 10, answered: 10 - lost), to: side)
        single.add(.sample(latitude: latitude, pings: 10, answered: lost > 0 && index == 50 ? 0 : 10), to: side)
      }
    }
    let found = try #require(even.result().loss)
    #expect(abs(found.effect - 0.15) < 1e-12 && found.probability < 0.001 && found.lower > 0.05)
    #expect(single.result().loss == nil)
  }

  @Test("The places of the first side are in the order of its road, whatever the order of the second side")
  func order() throws {
    var (one, other) = (PlaceComparison(), PlaceComparison())
    var series = CorrelatedSeries(length: 8, seed: 2)
    let fences = series.values(150).enumerated().map { index, value in
      Fence.sample(
        latitude: 48 + Double(index) * 0.001, pings: 1, answered: 1, rttSumNanoseconds: Int64((50 + value) * 1e6))
    }
    let plain = fences.map { Fence.sample(latitude: $0.centre.latitude, pings: 1, answered: 1, rttSumNanoseconds: 1) }
    for fence in fences {
      one.add(fence, to: .first)
      other.add(fence, to: .first)
    }
    for fence in plain { one.add(fence, to: .second) }
    for fence in plain.reversed() { other.add(fence, to: .second) }
    #expect(try #require(one.result().delay) == #require(other.result().delay))
    #expect(try #require(one.result().delay).difference.effective < 60)
  }
}
