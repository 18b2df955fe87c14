import Coverage
import Store
import TestSupport

@testable import Export

extension ReportedSpeedTest {
  /// A test with these rates in kbit/s, pings in ms, and medians of delays in ms.
  static func sample(
    _ id: Int64, _ outcome: StoredSpeedTest.Outcome? = .completed, technology: String? = "4G/LTE",
    download: Int64 = 47_800, upload: Int64 = 19_100, pings: [Int64] = [20, 30, 40],
    delays: KeyValuePairs<SpeedTestDelay.Part, Int64> = [:], links: [SpeedTestLink.Kind]? = nil
  ) -> ReportedSpeedTest {
    var figures = SpeedTestFigures.sample(download: download, upload: upload, pings: pings)
    figures.links = links?.map { SpeedTestLink(kind: $0, interface: "link") }
    figures.delays = delays.map { SpeedTestDelay($0, roundTrips: [$1 * 1_000_000], lost: 0) }
    return ReportedSpeedTest(
      id: id, outcome: outcome, technology: technology.map(Technology.init), figures: figures)
  }
}

extension ReportFigures {
  /// Figures of these tests, with three fences.
  init(tests: [ReportedSpeedTest]) {
    self.init()
    for number in 0..<3 { add(.of(.sample(number: number, entered: 10 + Double(number) * 4))) }
    endFences()
    for test in tests { add(test) }
  }
}
