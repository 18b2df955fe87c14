import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// How often the intervals and tests of reports hold for pings that are alike; tools/simulate-reports has more of the same. The seeds make each
/// run the same.
@Suite struct StatisticsSlowTests {
  /// The median of the delays in microseconds, and the standard deviation of their logarithm.
  private static let (median, spread) = (40_000.0, 0.4)

  private func delays(_ count: Int, length: Double, seed: UInt64) -> [Int64] {
    var series = CorrelatedSeries(length: length, seed: seed)
    return series.values(count).map { Int64(Self.median * exp(Self.spread * $0) * 1000) }
  }

  @Test(
    "when pings are alike for some time, then about 95 % of the intervals of mean, median and 95th percentile are right",
    arguments: [0, 5, 25] as [Double])
  func delays(length: Double) throws {
    let drives = 160
    var (mean, median, high, highGiven, independent) = (0, 0, 0, 0, 0)
    for seed in 1...UInt64(drives) {
      var (series, counts) = (PingSeries(), ValueCounts())
      for delay in delays(4500, length: length, seed: seed) {
        series.add(nanoseconds: delay)
        counts.add(nanoseconds: delay)
      }
      let percentiles = series.percentiles([50, 95], of: counts)
      let estimate = try #require(series.mean)
      let truth = Self.median * exp(Self.spread * Self.spread / 2)
      if estimate.lower <= truth, truth <= estimate.upper { mean += 1 }
      func contains(_ percentile: Percentile, _ truth: Double) -> Bool {
        percentile.lower.map { Double($0) <= truth } ?? true && percentile.upper.map { truth <= Double($0) } ?? true
      }
      #expect(percentiles[0].lower != nil && percentiles[0].upper != nil)
      if contains(percentiles[0], Self.median) { median += 1 }
      // With a long correlation, the interval of some drives is open.
      if percentiles[1].lower != nil || percentiles[1].upper != nil { highGiven += 1 }
      if contains(percentiles[1], Self.median * exp(1.6448536269514722 * Self.spread)) { high += 1 }
      // The ranks of 4500 independent pings: half of them, and 1.96 times half of the root.
      let ends = counts.values(atRanks: [2184, 2317])
      if try Double(#require(ends[0])) <= Self.median, try Self.median <= Double(#require(ends[1])) { independent += 1 }
    }
    #expect((145...159).contains(mean) && (145...159).contains(median), "\(mean) \(median) of \(drives)")
    #expect(highGiven >= 158 && high >= 145, "\(high), \(highGiven) of \(drives) have an interval")
    // The control: the formula for independent pings is right for these only.
    #expect(length == 0 ? (145...159).contains(independent) : independent < 110, "\(independent)")
  }

  @Test(
    "when losses are alike for some time, then about 95 % of the intervals are right", arguments: [0, 20] as [Double])
  func losses(length: Double) {
    var (given, right, independent) = (0, 0, 0)
    for seed in 1...160 as ClosedRange<UInt64> {
      var (states, series) = (CorrelatedSeries(length: length, seed: seed), PingSeries())
      for isLost in states.states(6000, share: 0.1) { series.add(nanoseconds: isLost ? nil : 1_000_000) }
      let share = Double(series.count - series.answered) / 6000
      if abs(share - 0.1) < 1.96 * (share * (1 - share) / 6000).squareRoot() { independent += 1 }
      guard let loss = series.loss else { continue }
      given += 1
      if loss.lower <= 0.1, 0.1 <= loss.upper { right += 1 }
    }
    #expect(given == 160 && (145...159).contains(right), "\(right) of \(given)")
    #expect(length == 0 ? independent > 140 : independent < 80, "\(independent)")
  }

  @Test("when losses are few and alike for some time, then the intervals of those drives that have one are right, too")
  func fewLosses() {
    var (given, right) = (0, 0)
    for seed in 1...300 as ClosedRange<UInt64> {
      // Two per cent of 6000 pings, alike for 10 s: about one loss in two drives.
      var (states, series) = (CorrelatedSeries(length: 100, seed: seed), PingSeries())
      for isLost in states.states(6000, share: 0.02) { series.add(nanoseconds: isLost ? nil : 1_000_000) }
      guard let loss = series.loss else { continue }
      given += 1
      if loss.lower <= 0.02, 0.02 <= loss.upper { right += 1 }
    }
    #expect(given >= 100 && right * 100 >= given * 93, "\(right) of \(given)")
  }

  @Test(
    "when speed tests are alike in a row, then few comparisons find a difference, and most of 50 % do",
    arguments: [0, 1, 3] as [Double])
  func speedTests(length: Double) {
    var (tests, alarms, found, independent) = (0, 0, 0, 0)
    for seed in 1...300 as ClosedRange<UInt64> {
      var series = CorrelatedSeries(length: length, seed: seed)
      func rates(_ factor: Double) -> [Int64] {
        // The second selection is measured on another day.
        _ = series.values(100)
        return series.values(60).map { Int64(50_000 * factor * exp(0.5 * $0)) }
      }
      let (first, second) = (rates(1), rates(1))
      if let test = RankSum(first, second) {
        tests += 1
        if test.difference.probability < 0.05 { alarms += 1 }
        // The standard error of independent tests.
        if abs(test.secondIsGreater - 0.5) > 1.96 * (121.0 / 12).squareRoot() / 60 { independent += 1 }
      }
      if let test = RankSum(first, rates(1.5)), test.difference.probability < 0.05, test.difference.effect > 0 {
        found += 1
      }
    }
    #expect(tests >= (length > 1 ? 250 : 299) && alarms * 100 <= tests * 8, "\(alarms) of \(tests)")
    #expect(found >= (length > 1 ? 75 : 200), "\(found)")
    // The control: the formula for independent tests gives more false alarms.
    #expect(
      length == 0 ? independent * 100 <= tests * 8 : independent * 100 >= tests * 14, "\(independent) of \(tests)")
  }

  /// The report on two drives over the same 400 places; each has its own correlated delays and losses.
  private func findings(extraMilliseconds: Double, extraLoss: Double, seed: UInt64) -> (
    findings: [Finding], differences: [Double]
  ) {
    var (comparison, means) = (PlaceComparison(), [[Double]]())
    for side in PlaceComparison.Side.allCases {
      let isSecond = side == .second
      var states = CorrelatedSeries(length: 15, seed: seed &* 4 &+ UInt64(isSecond ? 1 : 0))
      // Eight pings at each place, alike for about four places.
      let delays = delays(3200, length: 30, seed: seed &* 4 &+ UInt64(isSecond ? 3 : 2))
      let lost = states.states(3200, share: 0.05 + (isSecond ? extraLoss : 0))
      means.append(
        (0..<400).map { place in
          let answered = (0..<8).filter { !lost[place * 8 + $0] }.map { delays[place * 8 + $0] }
          let sum = answered.reduce(0, +) + (isSecond ? Int64(Double(answered.count) * extraMilliseconds * 1e6) : 0)
          comparison.add(
            .sample(latitude: 48 + Double(place) * 0.0005, pings: 8, answered: answered.count, rttSumNanoseconds: sum),
            to: side)
          return Double(sum) / Double(max(1, answered.count))
        })
    }
    let part = Report.Part(title: "A", figures: ReportFigures())
    let none = LeastDifferences(delayMilliseconds: 0, lossPoints: 0, coveragePoints: 0)
    let report = Report(parts: [part, part], comparison: comparison, least: none)
    return (report.findings, zip(means[0], means[1]).map { $1 - $0 })
  }

  /// Whether Wilcoxon's test for independent places finds a difference.
  private func isIndependentlyDifferent(_ differences: [Double]) -> Bool {
    let order = differences.indices.sorted { abs(differences[$0]) < abs(differences[$1]) }
    let (sum, squares) = order.enumerated().reduce((0.0, 0.0)) { total, entry in
      let rank = Double(entry.offset + 1)
      return (total.0 + (differences[entry.element] > 0 ? rank : -rank), total.1 + rank * rank)
    }
    return abs(sum) > 1.96 * squares.squareRoot()
  }

  @Test(
    "when two drives follow one law, then few reports find a difference; when they differ by 15 ms, then nearly all do")
  func comparisons() {
    var (alarms, independent, found, lossFound) = (0, 0, 0, 0)
    for seed in 1...100 as ClosedRange<UInt64> {
      let alike = findings(extraMilliseconds: 0, extraLoss: 0, seed: seed)
      if alike.findings.contains(where: { $0.verdict == .different }) { alarms += 1 }
      if isIndependentlyDifferent(alike.differences) { independent += 1 }
      let unlike = findings(extraMilliseconds: 15, extraLoss: 0.25, seed: seed).findings
      if unlike[0].verdict == .different { found += 1 }
      if unlike[1].verdict == .different { lossFound += 1 }
    }
    #expect(alarms <= 9, "\(alarms)")
    // The control: the formula for independent places gives more false alarms.
    #expect(independent >= 25, "\(independent)")
    #expect(found >= 90 && lossFound >= 90, "\(found) \(lossFound)")
  }
}
