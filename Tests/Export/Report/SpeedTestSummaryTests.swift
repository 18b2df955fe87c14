import Coverage
import Store
import TestSupport
import Testing

@testable import Export

/// The figures of speed tests, computed by hand and against a model.
@Suite struct SpeedTestSummaryTests {
  private func summary(_ tests: [ReportedSpeedTest]) -> SpeedTestSummary {
    tests.reduce(into: SpeedTestSummary()) { $0.add($1) }
  }

  @Test("when tests completed, failed and were aborted, then shares are of all tests, and failures of those that ended")
  func outcomes() {
    let tests = summary([
      .sample(1), .sample(2), .sample(3), .sample(4, .failed), .sample(5, .aborted), .sample(6, nil),
    ])
    #expect(tests.all.tests == 6 && tests.all.count(.completed) == 3)
    #expect(tests.all.count(.failed) == 1 && tests.all.count(.aborted) == 1)
    #expect(tests.all.completed == 0.5 && tests.all.unsuccessful == 0.25)
  }

  @Test("when there are no tests, or only aborted ones, then shares of a zero total are absent")
  func noShares() {
    #expect(SpeedTestSummary().isEmpty && SpeedTestSummary().all.completed == nil)
    let aborted = summary([.sample(1, .aborted)])
    #expect(aborted.all.completed == 0 && aborted.all.unsuccessful == nil)
    #expect(aborted.all.quantiles(of: .download) == nil, "only completed tests have figures in a report")
  }

  @Test("when pings measure delays around a test, then the increase is computed per test, not from the medians")
  func increase() throws {
    let tests = summary([
      .sample(1, delays: [.idle: 10, .download: 110, .upload: 20]),
      .sample(2, delays: [.idle: 100, .download: 120, .upload: 90]),
      .sample(3, delays: [.idle: 50, .download: 80]), .sample(4, delays: [.download: 500]), .sample(5),
    ])
    #expect(tests.all.quantiles(of: .idleDelay)?.median.value == 50_000)
    #expect(tests.all.quantiles(of: .downloadDelay)?.median.value == 110_000)
    let download = try #require(tests.all.quantiles(of: .downloadIncrease))
    #expect(download.count == 3 && download.median.value == 30_000)
    let upload = try #require(tests.all.quantiles(of: .uploadIncrease))
    #expect(upload.count == 2 && upload.least == -10_000, "an increase can be negative")
  }

  @Test("when tests are on several technologies, then each generation has its own figures")
  func technologies() {
    let tests = summary([
      .sample(1, technology: "4G/LTE", download: 10_000), .sample(2, technology: "4G/LTE CA", download: 30_000),
      .sample(3, technology: "5G/NR", download: 90_000), .sample(4, .failed, technology: "5G/NR"),
      .sample(5, technology: nil), .sample(6, technology: "NONE"), .sample(7, technology: "6G/<b>"),
    ])
    #expect(tests.byTechnology[.four]?.quantiles(of: .download)?.greatest == 30_000)
    #expect(tests.byTechnology[.fiveStandalone]?.tests == 2)
    #expect(tests.byTechnology[.fiveStandalone]?.quantiles(of: .download)?.count == 1)
    #expect(tests.byTechnology[.unknown]?.tests == 3)
    #expect(tests.byTechnology.values.reduce(0) { $0 + $1.tests } == tests.all.tests)
  }

  @Test(
    "when other links than mobile networks carried tests, then these stand apart, by link, and are in no other figure")
  func otherLinks() {
    let tests = summary([
      .sample(1, download: 10_000, links: [.cellular]), .sample(2, download: 20_000, links: [.loopback]),
      .sample(3, download: 30_000),
      .sample(4, technology: nil, download: 900_000, links: [.wifi]),
      .sample(5, .failed, technology: nil, links: [.wifi]),
      .sample(6, download: 500_000, links: [.cellular, .ethernet]), .sample(7, links: [.vpn, .vpn]),
    ])
    #expect(tests.all.tests == 3 && tests.all.quantiles(of: .download)?.greatest == 30_000)
    #expect(tests.byTechnology.values.reduce(0) { $0 + $1.tests } == 3)
    #expect(tests.otherLinks.mapValues(\.tests) == ["Wi-Fi": 2, "changed link": 1, "VPN": 1])
    #expect(tests.otherLinks["Wi-Fi"]?.quantiles(of: .download)?.median.value == 900_000)
    #expect(tests.ids == [1, 2, 3])
    #expect(!summary([.sample(1, links: [.wifi])]).isEmpty)
  }

  @Test(
    "when a phase was interrupted, then the test is counted, and its rate is that of the whole phase if a part was measured"
  )
  func interrupted() {
    func test(_ id: Int64, until end: Int64, silence: Int64) -> ReportedSpeedTest {
      var figures = SpeedTestFigures.sample()
      figures.download = SpeedTestRate(
        kilobitsPerSecond: 8_000_000, bytes: 0, nanoseconds: end, began: 0, connections: 1,
        curves: [[[end, 2_180_000_000]]], planned: 7_000_000_000, silence: silence)
      return ReportedSpeedTest(id: id, outcome: .completed, technology: nil, figures: figures)
    }
    let tests = summary([
      test(1, until: 2_180_000_000, silence: 4_820_000_000), test(2, until: 7_000_000_000, silence: 2_000_000_000),
      test(3, until: 7_000_000_000, silence: 1),
    ])
    #expect(tests.all.interrupted == 2)
    #expect(tests.all.values(of: .download) == [2_491_429, 8_000_000, 8_000_000])
  }

  @Test("when figures are 0, negative or absent, then they do not count as values; the test still counts")
  func noFigures() {
    var figures = SpeedTestFigures(server: "h", port: 1, kind: "RMBT")
    figures.pings = [SpeedTestPing(client: 1, server: -5, offset: 0)]
    figures.delays = [
      SpeedTestDelay(.idle, roundTrips: [-7], lost: 0), SpeedTestDelay(.upload, roundTrips: [], lost: 3),
    ]
    figures.download = .sample(-1)
    figures.upload = .sample(0)
    let tests = summary([
      ReportedSpeedTest(id: 1, outcome: .completed, technology: nil, figures: figures),
      ReportedSpeedTest(id: 2, outcome: .completed, technology: nil, figures: nil),
    ])
    #expect(tests.all.count(.completed) == 2)
    for quantity in SpeedTestQuantity.allCases { #expect(tests.all.quantiles(of: quantity) == nil, "\(quantity)") }
  }

  @Test("when figures are the largest numbers, then nothing overflows")
  func largest() throws {
    var figures = SpeedTestFigures.sample()
    figures.pings = Array(repeating: SpeedTestPing(client: .max, server: .max, offset: .max), count: 4)
    figures.download = SpeedTestRate(
      kilobitsPerSecond: .max, bytes: .max, nanoseconds: .max, began: .max, connections: .max, curves: [])
    figures.delays = [
      SpeedTestDelay(.idle, roundTrips: [1], lost: .max), SpeedTestDelay(.upload, roundTrips: [.max], lost: 0),
    ]
    let tests = summary(
      (1...3).map { ReportedSpeedTest(id: $0, outcome: .completed, technology: nil, figures: figures) })
    #expect(tests.all.quantiles(of: .download)?.median.value == .max)
    #expect(try #require(tests.all.quantiles(of: .ping)).median.value == .max / 1000)
    #expect(try #require(tests.all.quantiles(of: .uploadIncrease)).median.value == .max / 1000)
  }

  @Test("when tests are random, then a model that keeps all tests gives the same counts and medians")
  func model() {
    var random = SeededGenerator(seed: 21)
    for _ in 0..<30 {
      let tests = (0..<Int.random(in: 0...40, using: &random)).map { number in
        ReportedSpeedTest.sample(
          Int64(number), [.completed, .completed, .failed, .aborted].randomElement(using: &random) ?? nil,
          technology: ["4G/LTE", "5G/NR", nil].randomElement(using: &random) ?? nil,
          download: Int64.random(in: -2...40, using: &random), pings: [Int64.random(in: 1...9, using: &random)])
      }
      let summary = summary(tests)
      for (group, members) in [(summary.all, tests)]
        + summary.byTechnology.map({ key, group in (group, tests.filter { Reception(on: $0.technology) == key }) })
      {
        let completed = members.filter { $0.outcome == .completed }
        let rates = completed.compactMap { $0.figures?.download?.kilobitsPerSecond }.filter { $0 > 0 }.sorted()
        #expect(group.tests == members.count && group.count(.completed) == completed.count)
        #expect(group.quantiles(of: .download)?.count ?? 0 == rates.count)
        #expect(
          group.quantiles(of: .download)?.median.value == (rates.isEmpty ? nil : rates[(rates.count + 1) / 2 - 1]))
      }
    }
  }

  @Test("when selections share tests, then there is no rank test, and the comparison has the number of shared tests")
  func shared() throws {
    let (first, second) = (summary((1...6).map { .sample($0) }), summary((5...12).map { .sample($0) }))
    let comparison = try #require(SpeedTestComparison(first, second))
    #expect(comparison.shared == 2 && comparison.tests.isEmpty)
    #expect(SpeedTestComparison(first, SpeedTestSummary()) == nil)
  }

  @Test("when two selections differ only in the download, then only the download is significant")
  func comparison() throws {
    let comparison = try #require(
      SpeedTestComparison(
        summary((1...24).map { .sample($0, download: 10_000 + $0 * 7 % 25, upload: 5000 + $0 * 9 % 25) }),
        summary((31...54).map { .sample($0, download: 20_000 + $0 * 7 % 25, upload: 5000 + $0 * 4 % 25) })))
    #expect(comparison.shared == 0 && comparison.tests.count == 2)
    #expect(
      try #require(comparison.tests[.download]).difference.probability < 0.05
        && comparison.tests[.download]?.secondIsGreater == 1)
    #expect(try #require(comparison.tests[.upload]).difference.probability > 0.05)
    #expect(comparison.tests[.ping] == nil, "all pings are equal")
  }
}
