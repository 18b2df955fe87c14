import Coverage
import Settings
import Store
import TestSupport
import Testing

@testable import Export
@testable import Service
@testable import coverage_probe

/// `report`: which fences and speed tests of a store are in it.
struct ReportingTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration
  private let store: DriveStore

  /// Two drives of a minute, an hour between their starts; 25 tests in the first, 24 in the second, one without a drive.
  init() async throws {
    folder = try TemporaryFolder()
    configuration = .sample(in: folder)
    store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    for hour in 0..<2 {
      let started = WallTime.sampleStart.later(by: .seconds(3600 * hour))
      var recorder = try DriveRecorder(store, started: started, log: nil, link: hour == 0 ? "A" : "B")
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
        fences: [.sample(number: 0, entered: 0)], seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
      for number in 0..<(25 - hour) {
        try await add(
          drive: Int64(hour + 1), at: 3600 * hour + number * 2,
          download: Int64(10_000 + hour * 50_000 + number * 7 % 25))
      }
    }
    try await add(drive: nil, at: 30, download: 1)
  }

  private func add(drive: Int64?, at second: Int, download: Int64) async throws {
    let time = WallTime.sampleStart.later(by: .seconds(second))
    var start = SpeedTestOutbox.Start(
      controlServer: "https://host/", clientUUID: "C", testUUID: "\(second) \(download)", token: "t", started: time)
    (start.drive, start.technology) = (drive, Technology("4G/LTE"))
    let id = try await store.speedTests.begin(start)
    try await store.speedTests.end(id, .init(.completed, at: time, figures: .sample(download: download)))
  }

  private func report(_ sessions: Set<Int64>..., change: (inout FenceFilter) -> Void = { _ in }) throws -> Report {
    var filter = FenceFilter()
    change(&filter)
    let choices = sessions.map { Reporting.Choice(title: "S", state: .all, sessions: $0, filter: filter) }
    return try Reporting(
      configuration: configuration, choices: choices,
      options: Reporting.Options(least: LeastDifferences(delayMilliseconds: 7))
    ).run { _ in }
  }

  @Test("when all is selected, then all ended tests are in the report, including those without a drive")
  func all() throws {
    let tests = try report([]).parts[0].figures.speedTests
    #expect(tests.all.tests == 50 && tests.byTechnology.keys.map(\.name) == ["4G"])
    #expect(tests.all.quantiles(of: .download)?.least == 1)
  }

  @Test("when two sessions are compared, then each has its own tests, and the rank test compares them")
  func sessions() throws {
    let report = try report([1], [2])
    #expect(report.parts.map(\.figures.speedTests.all.tests) == [25, 24])
    let comparison = try #require(report.speedTests)
    #expect(comparison.shared == 0)
    #expect(comparison.tests[.download]?.secondIsGreater == 1)
    #expect(report.findings.map(\.figure) == Finding.Figure.allCases)
    #expect(report.findings.first { $0.figure == .download }?.verdict == .different)
    #expect(report.findings.filter { $0.least == 7 }.map(\.figure) == [.delay, .ping])
  }

  @Test("when both selections have the same tests, then the report has no rank test, and says how many they share")
  func shared() throws {
    let comparison = try #require(try report([], [1]).speedTests)
    #expect(comparison.shared == 25 && comparison.tests.isEmpty)
  }

  @Test("when a time or a technology is selected, then only its tests are in the report; a link excludes all tests")
  func conditions() throws {
    let later = WallTime.sampleStart.later(by: .seconds(3000))
    #expect(try report([]) { $0.from = later }.parts[0].figures.speedTests.all.tests == 24)
    let pattern = try #require(TechnologyPattern("5G"))
    #expect(try report([]) { $0.technologies = [pattern] }.parts[0].figures.speedTests.isEmpty)
    let ofLink = try report([]) { $0.links = ["A"] }.parts[0].figures
    #expect(ofLink.speedTests.isEmpty && ofLink.shares.total.fences == 1)
  }

  /// What a modem on LTE told during a fence.
  private func radio(
    _ technology: String = "4G/LTE", channel: Int64?, _ levels: [SignalQuantity: Double],
    change: (inout ModemReading) -> Void = { _ in }
  ) -> FenceRadio {
    var (radio, reading, cell) = (FenceRadio(), ModemReading(), RadioCell.sample(1))
    (cell.kind, cell.channel) = (.lte, channel)
    reading.cell = cell
    change(&reading)
    radio.technologies = [.init(technology: technology, microseconds: 4_000_000)]
    radio.levels = levels.map { .init(quantity: $0, minimum: $1 - 9, median: $1, maximum: $1 + 9) }
    (radio.cell, radio.environment) = (reading.cell, RadioEnvironment(reading))
    return radio
  }

  /// Page and JSON of a drive with these fences, of 4 s each.
  private func report(_ radios: [FenceRadio?]) throws -> (page: String, json: String) {
    var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(9000)), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
      fences: radios.enumerated().map { .sample(number: $0, entered: Double($0) * 4, radio: $1) }, seen: .seconds(60))
    try recorder.end(at: .seconds(60), reason: .user)
    let report = try report([3])
    return (ReportPage(report).html, report.json.text)
  }

  @Test(
    "when a modem told bands and other cells, then page and JSON have a row for each band and each 5G cell beside LTE")
  func bands() throws {
    let other = MeasuredCell(.sample(2), levels: [.rsrp: -104])
    let (page, json) = try report([
      radio(channel: 1300, [.rsrp: -100]) {
        ($0.secondaries, $0.timingAdvance) = ([MeasuredCell($0.cell ?? RadioCell())], 11)
        $0.neighbours = [other, other, other].map { MeasuredCell($0.cell.checked(as: .lte), levels: $0.levels) }
      },
      radio(channel: 1300, [.rsrp: -95]) {
        $0.timingAdvance = 5
        $0.neighbours = [MeasuredCell(.sample(3))]
      },
      radio("5G/NRNSA", channel: 1300, [.rsrp: -91, .nrRSRP: -99.5]) { $0.secondaries = [MeasuredCell(.secondary)] },
      radio(channel: 6300, [.rsrp: -110]), radio(channel: nil, [:]), nil,
    ])
    let rows = [
      "4G, B3</th><td>2</td><td>8 s</td><td>−100.0</td><td>–</td><td>2 in 1 fence</td><td>2.0</td><td>−104.0</td><td>5 to 11",
      "4G, B20</th><td>1</td><td>4 s</td><td>−110.0</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–",
      "4G, band unknown</th><td>2</td><td>8 s</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–",
      "5G NSA (LTE anchor), B3</th><td>1</td><td>4 s</td><td>−91.0</td><td>−99.5</td><td>–</td><td>–</td><td>–</td><td>–",
      "5G NSA, n77/n78 beside LTE</th><td>1</td><td>4 s</td><td>−99.5</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–",
    ]
    #expect(page.contains(rows.map { "<tr><th scope=\"row\">\($0)</td></tr>" }.joined(separator: "\n")))
    #expect(page.contains("Signal and cells by band<sup><a href=\"#n12\"") && page.contains("<li id=\"n12\""))
    for row in [
      #"{"technology":"4G","band":"B3","is_secondary":false,"fences":2,"time_s":8.0,"signal_dbm":-100.0,"carriers":2,"#
        + #""carriers_fences":1,"neighbours_mean":2.0,"neighbour_dbm":-104.0,"timing_advance_min":5,"timing_advance_max":11}"#,
      #"{"technology":"4G","is_secondary":false,"fences":2,"time_s":8.0}"#,
      #""band":"n77/n78","is_secondary":true,"fences":1,"time_s":4.0,"signal_dbm":-99.5}"#,
    ] {
      #expect(
        json.contains(row), "\(json.ranges(of: "by_band").first.map { json[$0.lowerBound...].prefix(900) } ?? "")")
    }
  }

  @Test("when a modem in 3G names RSSI only, then it has a column of its own, and does not mix with RSCP")
  func bandsOf3G() throws {
    let (page, json) = try report([
      radio("3G/HSPA+", channel: 10_700, [.rscp: -90, .rssi: -60]) { $0.cell?.kind = .umts },
      radio("3G/HSPA+", channel: 10_700, [.rssi: -71]) { $0.cell?.kind = .umts },
      radio(channel: 1300, [.rsrp: -100]),
    ])
    #expect(page.contains("3G, band unknown</th><td>2</td><td>8 s</td><td>−90.0</td><td>−71.0</td></tr>"))
    #expect(page.contains("4G, B3</th><td>1</td><td>4 s</td><td>−100.0</td><td>–</td></tr>"))
    #expect(json.contains(#""signal_dbm":-90.0,"rssi_dbm":-71.0}"#))
  }

  @Test(
    "when pings could not be sent and a link was silent, then JSON counts them, and the longest outage has its link")
  func unsentAndOutages() throws {
    for (link, answered, unsent) in [("A", 39, 7), ("B", 0, 2)] {
      var figures = PingFigures()
      figures.unsent = unsent
      var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(9000)), log: nil, link: link)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
        fences: [
          .sample(answered: answered, rttSumNanoseconds: Int64(answered) * 30_000_000, figures: figures)
        ], seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
    }
    let report = try report([3, 4])
    let json = report.json.text
    #expect(json.contains(#""unsent":9"#) && json.contains(#""drives":1,"links":2"#))
    #expect(json.contains(#""longest":{"began_at":"2026-11-20T12:30:10.000Z","link":"B","#))
    #expect(ReportPage(report).html.contains("not measured: not sent, or nothing listened</th><td>9</td>"))
  }

  @Test("when a modem told bands only, then the table has no columns without a value")
  func fewBands() throws {
    let page = try report([radio(channel: 1300, [.rsrp: -100])]).page
    let heads = ["", "fences", "time", "signal, median dBm"].map { "<th scope=\"col\">\($0)</th>" }.joined()
    #expect(page.contains("<thead><tr>\(heads)</tr></thead>"))
  }

  @Test("when no modem told a band or another cell, then neither page nor JSON has a table of them")
  func noBands() throws {
    let (page, json) = try report([radio(channel: nil, [.rsrp: -100]), nil])
    #expect(page.contains("Signal by technology") && !page.contains("by band") && !json.contains("\"bands\""))
  }
}
