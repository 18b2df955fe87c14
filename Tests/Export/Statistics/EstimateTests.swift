import Testing

@testable import Export

@Suite struct EstimateTests {
  private func deviations(of states: [Bool]) -> (share: Double, mean: CorrelatedMean?) {
    let share = Double(states.count { $0 }) / Double(states.count)
    return (share, CorrelatedMean(SerialBlocks(states.map { ($0 ? 1 : 0) - share })))
  }

  @Test("when samples are independent, then the interval of a share is about that of the binomial distribution")
  func share() throws {
    var series = CorrelatedSeries(length: 0, seed: 4)
    let found = deviations(of: series.states(5000, share: 0.1))
    let estimate = try #require(Estimate.share(found.share, found.mean))
    #expect(estimate.lower < estimate.value && estimate.value < estimate.upper)
    #expect((0.010...0.026).contains(estimate.upper - estimate.lower), "0.0166 for independent ones")
  }

  @Test("when there is no loss or a single one, then there is no interval; two have a wide one")
  func rare() throws {
    let none = deviations(of: Array(repeating: false, count: 6000))
    #expect(Estimate.share(none.share, none.mean) == nil)
    let once = deviations(of: (0..<6000).map { (2000..<2100).contains($0) })
    #expect(Estimate.share(once.share, once.mean) == nil)
    let twice = deviations(of: (0..<6000).map { (1000..<1100).contains($0) || (3000..<3100).contains($0) })
    let wide = try #require(Estimate.share(twice.share, twice.mean))
    // By tools/bench/correlated.py.
    #expect(abs(wide.lower - 0.0037994) < 1e-6 && abs(wide.upper - 0.1418362) < 1e-6, "\(wide)")
    #expect(Estimate.mean(30, nil) == nil)
  }

  @Test("when delays have a mean, then the interval's ends are in the same ratio to it")
  func mean() throws {
    var series = CorrelatedSeries(length: 3, seed: 5)
    let values = series.values(2000).map { 30 + $0 }
    let mean = values.reduce(0, +) / 2000
    let estimate = try #require(Estimate.mean(mean, CorrelatedMean(SerialBlocks(values.map { $0 - mean }))))
    #expect(abs(estimate.upper / mean - mean / estimate.lower) < 1e-12 && estimate.upper > mean)
    #expect((100...2000).contains(estimate.effective))
  }

  @Test(
    "when a percentile has an interval, then its ends are delays, and the greater percentiles can lack the upper one")
  func percentiles() throws {
    var (series, pings, delays) = (CorrelatedSeries(length: 20, seed: 6), PingSeries(), ValueCounts())
    for value in series.values(3000) {
      let delay = Int64((40 + 5 * value) * 1e6)
      pings.add(nanoseconds: delay)
      delays.add(nanoseconds: delay)
    }
    pings.add(nanoseconds: nil)
    let found = pings.percentiles([50, 90, 99], of: delays)
    #expect(found.map(\.percent) == [50, 90, 99] && pings.answered == 3000 && pings.count == 3001)
    let (lower, upper) = (try #require(found[0].lower), try #require(found[0].upper))
    #expect(lower < found[0].value && found[0].value < upper && (36_000...44_000).contains(lower))
    #expect(try #require(found[0].effective) < 300)
    #expect(found[1].upper != nil && found[2].upper == nil)
    #expect(try #require(found[2].lower) <= found[2].value)
    #expect(pings.mean != nil)
    #expect(
      PingSeries().percentiles([50], of: ValueCounts()).isEmpty && PingSeries().mean == nil && PingSeries().loss == nil)
  }
}
