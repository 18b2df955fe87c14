import Coverage
import OrderedJSON
import Store
import TestSupport
import Testing

@testable import Export

@Suite struct ReportFiguresTests {
  /// Fences one after the other, 4 s and about 111 m each, of one drive.
  private static func figures(_ fences: [(pings: Int, answered: Int, technology: String?)]) -> ReportFigures {
    var figures = ReportFigures()
    for (index, fence) in fences.enumerated() {
      figures.add(
        fenceOf(
          .sample(
            number: index, entered: 10 + Double(index) * 4, latitude: 48 + Double(index) * 0.001, radius: 30,
            technology: fence.technology, pings: fence.pings, answered: fence.answered,
            rttSumNanoseconds: Int64(fence.answered) * 30_000_000)))
    }
    figures.endFences()
    return figures
  }

  private static func fenceOf(_ fence: Fence, session: Int64 = 1) -> StoredFence {
    .of(fence, session: session)
  }

  @Test("A fence without an answer is no coverage, despite its technology; distance and time follow the fences")
  func shares() {
    let figures = Self.figures([(10, 10, "4G/LTE"), (10, 0, "4G/LTE"), (20, 5, nil), (0, 0, "5G/NR")])
    #expect(figures.shares.parts[.four]?.pings == 10)
    #expect(figures.shares.parts[.noAnswer]?.microseconds == 4_000_000)
    #expect(figures.shares.parts[.unknown]?.answered == 5)
    #expect(figures.shares.parts[.notMeasured]?.metres == 0)
    #expect(figures.shares.covered.pings == 30)
    #expect(abs(figures.shares.total.metres - 333.5) < 1)
    #expect(abs(figures.shares.covered.metres - 222.4) < 1)
  }

  @Test("Mean and loss weigh pings, not fences")
  func weights() {
    var sums = PingSums()
    sums.add(.sample(pings: 1, answered: 1, rttSumNanoseconds: 100_000_000))
    sums.add(.sample(pings: 9, answered: 9, rttSumNanoseconds: 90_000_000))
    sums.add(.sample(pings: 10, answered: 0, rttSumNanoseconds: 0))
    #expect(sums.meanMicroseconds == 19_000)
    #expect(sums.loss == 0.5)
  }

  @Test("Neighbouring fences without an answer are one outage; a gap begins another one")
  func outages() {
    var figures = Self.figures([(10, 10, nil), (10, 0, nil), (10, 0, nil), (10, 10, nil), (10, 0, nil)])
    #expect(figures.outages.count == 2)
    #expect(figures.outages.microseconds == 12_000_000)
    #expect(figures.outages.longest?.microseconds == 8_000_000)
    #expect(figures.outages.longest?.began == WallTime.sampleStart.later(by: .seconds(14)))
    #expect(figures.hasOutagesOfFences)
    figures.add(Self.fenceOf(.sample(number: 5, entered: 90, pings: 10, answered: 0)))
    #expect(figures.outages.count == 3)
    #expect(figures.quality.gaps == 1)
    #expect(figures.quality.longestGap == 60_000_000)
  }

  @Test("Fences of different tests have no gap between them, and their distance counts")
  func sessions() {
    var figures = Self.figures([(10, 10, nil)])
    figures.add(
      Self.fenceOf(.sample(number: 1, session: 1, entered: 90, latitude: 48.001, longitude: 16.3738), session: 2))
    #expect(figures.quality.gaps == 0)
    #expect(abs(figures.shares.total.metres - 111.2) < 0.5)
  }

  @Test("The stretch with the most lost pings is the worst; at most three are kept")
  func stretches() {
    var fences = Array(repeating: (pings: 10, answered: 10, technology: Optional("4G/LTE")), count: 30)
    for index in 12..<16 { fences[index].answered = 2 }
    let worst = Self.figures(fences).stretches.worst
    #expect(worst.count == 3)
    #expect(worst[0].fences.contains { $0.number == 13 })
    #expect(worst[0].score > worst[1].score)
    #expect(worst[0].isLong)
  }

  @Test("Single pings count as the engine counts them: not at a fence's edge, not without accuracy, not on Wi-Fi")
  func log() throws {
    var figures = Self.figures([(10, 10, nil), (10, 10, nil)])
    let place = try #require(Coordinate(latitude: 48, longitude: 16))
    let there = try #require(Coordinate(latitude: 48.001, longitude: 16))
    func ping(_ at: Double, _ milliseconds: Int64?, stamped: Bool = false) -> Event {
      Event(
        at: .seconds(at),
        .ping(
          milliseconds.map { .answered(rttNanoseconds: $0 * 1_000_000, isKernelStamped: stamped) } ?? .failed(.timeout))
      )
    }
    let events = [
      Event(at: .seconds(10), .fix(Fix(coordinate: place, accuracy: 5))),
      ping(9, 1), ping(10, 2), ping(10.2, 30, stamped: true), ping(10.1, 20), ping(10.3, nil), ping(10.4, nil),
      ping(10.5, 40), Event(at: .seconds(14), .fix(Fix(coordinate: there, accuracy: 5))), ping(14, 3),
      Event(at: .seconds(14.5), .fix(Fix(coordinate: place, accuracy: 90))), ping(14.6, 4),
      Event(at: .seconds(14.7), .fix(.lost)), ping(14.8, 5),
      Event(at: .seconds(15), .fix(Fix(coordinate: there, accuracy: 15))), ping(15.1, 50),
      Event(at: .seconds(15.2), .path(.wifi)), ping(15.3, 6), Event(at: .seconds(15.4), .path(.cellular)),
      ping(15.5, 60), Event(at: .seconds(18), .fix(Fix(coordinate: place, accuracy: 5))), ping(18, 7), ping(18.1, 8),
      Event(at: .seconds(19), .clockSet(by: .seconds(-2))),
    ]
    try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { try events.forEach($0) }
    #expect(figures.delays == .singlePings)
    #expect(
      figures.logged.delays.values(atRanks: [1, 2, 3, 4, 5, 6]) == [20_000, 30_000, 40_000, 50_000, 60_000, nil])
    #expect(figures.logged.variations.values(atRanks: [1, 2]) == [10_000, nil], "Wi-Fi separates the last two")
    #expect(figures.logged.kernelStamped == 1)
    #expect(figures.logged.longestLoss == 2)
    let receiver = figures.logged.receiver
    #expect((receiver.fixes, receiver.refused, receiver.lost) == (6, 1, 1))
    #expect(figures.logged.unassigned == (outside: 6, paused: 1))
    #expect(receiver.clockSteps == 1 && receiver.clockStepMicroseconds == 2_000_000)
  }

  @Test("When no ping was answered, then the log is there all the same, and no sentence says that it is missing")
  func noAnswer() throws {
    var figures = Self.figures([(10, 0, nil)])
    try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { body in
      try body(Event(at: .seconds(10), .fix(Fix(coordinate: Coordinate(latitude: 48, longitude: 16), accuracy: 5))))
      for index in 1...10 { try body(Event(at: .seconds(10 + Double(index) / 10), .ping(.failed(.timeout)))) }
    }
    #expect(figures.delays == .singlePings && figures.percentiles.isEmpty && figures.delayCount == 0)
    let page = ReportPage(Report(parts: [.init(title: "A", figures: figures)], comparison: nil)).html
    #expect(page.contains("Round-trip delay in ms, with 95 % intervals") && !page.contains(": a drive log is missing"))
  }

  @Test(
    "A log that cannot be read to its end adds nothing; without logs, medians weigh their pings and have no interval")
  func noLog() {
    struct Unreadable: Error {}
    var figures = ReportFigures()
    var pings = PingFigures()
    pings.roundTrip = .init(minimum: 1_000_000, median: 30_000_000, percentile95: 40_000_000, maximum: 50_000_000)
    let fence = Fence.sample(pings: 40, answered: 39, figures: pings)
    figures.add(Self.fenceOf(fence))
    #expect(throws: Unreadable.self) {
      try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { body in
        try body(Event(at: .seconds(11), .ping(.answered(rttNanoseconds: 1))))
        throw Unreadable()
      }
    }
    #expect(figures.delays == .medians && figures.logged.logs == 0)
    #expect(figures.delayCount == 39)
    #expect(figures.percentiles.first?.value == 30_000)
    #expect(figures.percentiles.allSatisfy { $0.lower == nil && $0.upper == nil })
  }

  @Test("when a log has more pings than the store, as after a kill, then no log is missing; with fewer, one is")
  func logOfKilledDrive() throws {
    func figures(storedPings: Int) throws -> ReportFigures {
      var figures = Self.figures([(storedPings, storedPings, nil)])
      let place = try #require(Coordinate(latitude: 48, longitude: 16))
      try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { body in
        try body(Event(at: .seconds(10), .fix(Fix(coordinate: place, accuracy: 5))))
        for number in 1...3 {
          try body(Event(at: .seconds(10 + Double(number) / 10), .ping(.answered(rttNanoseconds: 20_000_000))))
        }
      }
      #expect(figures.logged.series.count == 3)
      return figures
    }
    #expect(!Self.figures([(2, 2, nil)]).hasAllLogs)
    #expect(try figures(storedPings: 2).hasAllLogs)
    #expect(try !figures(storedPings: 4).hasAllLogs)
  }

  @Test("when no log is there, then percentiles are over bins, and the loss has the interval of a group")
  func fromFences() throws {
    var (figures, bins) = (ReportFigures(), PingFigures())
    bins.delays = try #require(DelayBins("30000=39"))
    bins.roundTrip = .init(minimum: 1, median: 50_000_000, percentile95: 60_000_000, maximum: 70_000_000)
    for number in 0..<400 {
      let lost = number % 5 == 0 ? 4 : 1
      figures.add(Self.fenceOf(.sample(number: number, pings: 39 + lost, answered: 39, figures: bins)))
    }
    let group = try #require(figures.breakdown.links.rows.first?.group)
    #expect(figures.delays == .bins && figures.delayCount == 400 * 39)
    #expect(figures.percentiles.first?.value == group.delays.value(atPercentile: 50))
    #expect(figures.loss == group.loss && figures.loss != nil && figures.mean == nil)
    let page = ReportPage(Report(parts: [.init(title: "A", figures: figures)], comparison: nil)).html
    #expect(page.contains(", over fences</span>") && page.contains("no interval: a drive log is missing</span></dd>"))
    #expect(page.contains("Round-trip delay in ms; no intervals: a drive log is missing"))
    #expect(!page.contains("not enough samples</span></dd></div><div><dt>95th"))
  }
}
