import Coverage
import TestSupport
import Testing

@testable import Export

@Suite struct ValueCountsTests {
  @Test("Percentiles are those of the sorted delays, to the microsecond", arguments: [1, 2, 19, 100, 1234])
  func percentiles(count: Int) {
    var (random, counts, delays) = (SeededGenerator(seed: UInt64(count)), ValueCounts(), [Int64]())
    for _ in 0..<count {
      let delay = Int64.random(in: 1...200_000, using: &random)
      delays.append(delay)
      counts.add(nanoseconds: delay * 1000)
    }
    delays.sort()
    for percent in [50, 75, 90, 95, 99] {
      #expect(counts.value(atPercentile: percent) == delays.nearestRank(percent))
    }
  }

  @Test("Nanoseconds round half up; impossible delays are clamped")
  func rounding() {
    var counts = ValueCounts()
    for nanoseconds in [1_499, 1_500, .max, .min] as [Int64] { counts.add(nanoseconds: nanoseconds) }
    #expect(counts.values(atRanks: [1, 2, 3, 4, 5, 0]) == [0, 1, 2, 600_000_000, nil, nil])
  }

  @Test("A delay that counts several times weighs that much; without delays there is no percentile")
  func weights() {
    var counts = ValueCounts()
    #expect(counts.value(atPercentile: 50) == nil)
    counts.add(nanoseconds: 10_000_000, times: 3)
    counts.add(nanoseconds: 90_000_000, times: 1)
    counts.add(nanoseconds: 95_000_000, times: 0)
    #expect(counts.count == 4)
    #expect(counts.value(atPercentile: 75) == 10_000)
    #expect(counts.value(atPercentile: 90) == 90_000)
  }
}
