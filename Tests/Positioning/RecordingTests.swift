import Coverage
import Foundation
import TestSupport
import Testing

@testable import Positioning

/// The reports of gpsd 3.22 about ten real receivers, against independently computed figures.
struct RecordingTests {
  /// A part of expected.json.
  private struct Expected: Decodable {
    struct Figures: Decodable {
      let tpv: Int
      let tpv_mode: [String: Int]
      let tpv_with_position: Int
      let mode_ge2_without_position: Int
      let tpv_without_time: Int
      let distinct_fix_times: Int
      let bbox: Box?
      let classes: [String: Int]
    }

    struct Box: Decodable {
      let min_lat, min_lon, max_lat, max_lon: Double
    }

    let figures: Figures

    enum CodingKeys: String, CodingKey {
      case figures = "gpsd_3.22"
    }
  }

  static let names = [
    "bu303-moving", "bu303-nofix", "bundg_zeus_9", "garmin15x", "haicom-305N", "mtk-3301", "nmea-rtk", "passthrough",
    "trimble-lassen_iq", "ublox-8",
  ]

  /// Read once for all tests.
  private static let expectations = Result {
    try JSONDecoder().decode(
      [String: Expected].self, from: Data(contentsOf: Surroundings.fixture("gpsd/expected.json")))
  }

  private static let recordings = Result {
    try Dictionary(
      uniqueKeysWithValues: names.map { name in
        var splitter = LineSplitter()
        let lines = try splitter.push(Data(contentsOf: Surroundings.fixture("gpsd/\(name).gpsd322.json")))
        let reports = lines.compactMap { GPSDReport(line: $0) }
        #expect(reports.count == lines.count)
        return (name, reports)
      })
  }

  private func expected(_ name: String) throws -> Expected.Figures {
    let all = try Self.expectations.get()
    #expect(Set(all.keys) == Set(Self.names))
    return try #require(all[name]).figures
  }

  private func reports(_ name: String) throws -> [GPSDReport] {
    try #require(try Self.recordings.get()[name])
  }

  /// The recordings have no arrival times: the reports come a microsecond apart, and epochs end by their time alone.
  private func filtered(_ reports: [GPSDReport]) -> (events: [PositioningEvent], counters: PositioningCounters) {
    var filter = FixFilter.fresh()
    let events =
      reports.enumerated().flatMap { filter.apply($1, at: TestTime.at(1 + Double($0) / 1e6)) }
      + filter.advance(to: 3)
    return (events, filter.counters)
  }

  @Test(arguments: names) func whenARecordingIsRead_thenItsFiguresAreAsExpected(name: String) throws {
    let expected = try expected(name)
    let reports = try reports(name)
    let tpvs = reports.compactMap { if case .tpv(let tpv) = $0 { tpv } else { nil } }
    let placed = tpvs.filter { $0.latitude != nil && $0.longitude != nil }
    #expect(tpvs.count == expected.tpv)
    #expect(Dictionary(grouping: tpvs) { String($0.mode) }.mapValues(\.count) == expected.tpv_mode)
    #expect(placed.count == expected.tpv_with_position)
    #expect(tpvs.count { $0.mode >= 2 && $0.latitude == nil } == expected.mode_ge2_without_position)
    #expect(tpvs.count { $0.time == nil } == expected.tpv_without_time)
    #expect(Set(placed.filter { $0.mode >= 2 }.compactMap(\.time)).count == expected.distinct_fix_times)
    #expect(placed.compactMap(\.latitude).min() == expected.bbox?.min_lat)
    #expect(placed.compactMap(\.latitude).max() == expected.bbox?.max_lat)
    #expect(placed.compactMap(\.longitude).min() == expected.bbox?.min_lon)
    #expect(placed.compactMap(\.longitude).max() == expected.bbox?.max_lon)
    #expect(reports.count == expected.classes.values.reduce(0, +))
  }

  @Test(arguments: names) func whenARecordingIsFiltered_thenEachEpochGivesOneFixInItsPlace(name: String) throws {
    let expected = try expected(name)
    let (events, counters) = try filtered(reports(name))
    let fixes = events.fixes.filter { $0.fix != .lost }
    #expect(counters[.tpv] == expected.tpv)
    #expect(fixes.count == expected.distinct_fix_times)
    for coordinate in fixes.compactMap(\.fix.coordinate) {
      let box = try #require(expected.bbox)
      #expect(box.min_lat <= coordinate.latitude && coordinate.latitude <= box.max_lat)
      #expect(box.min_lon <= coordinate.longitude && coordinate.longitude <= box.max_lon)
    }
  }

  @Test func whenABoatsReceiverReportsTwentyTimesASecond_thenThereIsOneFixASecond() throws {
    let (events, counters) = try filtered(reports("bundg_zeus_9"))
    #expect(counters[.tpv] == 2484)
    #expect(events.fixes.count { $0.fix != .lost } == 148)
  }

  @Test func whenTheReceiverNeverHasAFix_thenThereIsNone() throws {
    #expect(try filtered(reports("bu303-nofix")).events.fixes.isEmpty)
  }
}
