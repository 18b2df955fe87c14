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
}
