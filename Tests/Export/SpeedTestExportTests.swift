import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Export

/// Speed tests of a real store in each format.
@Suite struct SpeedTestExportTests {
  private let tests: [StoredSpeedTest]

  init() async throws { tests = try await StoredSpeedTest.samples() }

  private func text(_ format: ExportFormat) throws -> String {
    var bytes: [UInt8] = []
    try format.export(speedTests: tests) { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test(
    "when tests are exported as GeoJSON, then each is a point with its figures; a test without a place has no geometry"
  )
  func geoJSON() throws {
    let collection = try #require(
      try JSONSerialization.jsonObject(with: Data(try text(.geojson).utf8)) as? [String: Any])
    let features = try #require(collection["features"] as? [[String: Any]])
    #expect(features.count == 2 && collection["type"] as? String == "FeatureCollection")
    let geometry = try #require(features[0]["geometry"] as? [String: Any])
    #expect(geometry["coordinates"] as? [Double] == [16.3738, 48.2082], "longitude first")
    #expect(features[1]["geometry"] is NSNull)
    let properties = try #require(features[0]["properties"] as? [String: Any])
    #expect(properties["download_kbps"] as? Int == 47_800 && properties["ping_median_ms"] as? Double == 30)
    #expect(properties["download_delay_median_ms"] as? Double == 100 && properties["download_pings_lost"] as? Int == 1)
    #expect(properties["latitude"] == nil && properties["download_curves"] == nil)
    let failed = try #require(features[1]["properties"] as? [String: Any])
    #expect(failed["error"] as? String == "no connection" && failed["download_kbps"] == nil)
  }

  @Test(
    "when a test was interrupted on a changed link, then its columns say so, and median and shortest ping are of one series"
  )
  func interrupted() async throws {
    let tests = try await StoredSpeedTest.samples {
      $0.links = [
        SpeedTestLink(kind: .cellular, interface: "wwan0", address: "10.0.0.1"),
        SpeedTestLink(kind: .cellular, interface: "wwan0", address: "10.0.0.2", since: 2),
        SpeedTestLink(kind: .wifi, interface: "wlan0", since: 3),
      ]
      $0.download = SpeedTestRate(
        kilobitsPerSecond: 8, bytes: 1, nanoseconds: 2_180_000_000, began: 0, connections: 1, curves: [],
        planned: 7_000_000_000, silence: 4_819_500_000)
    }
    var lines: [UInt8] = []
    try ExportFormat.jsonl.export(speedTests: tests) { lines += $0 }
    let test = try #require(try objects(String(decoding: lines, as: UTF8.self)).first)
    #expect(test["interrupted"] as? Bool == true && test["download_measured_percent"] as? Double == 31.1)
    #expect(test["download_silence_ms"] as? Double == 4820 && test["upload_silence_ms"] as? Double == 30)
    #expect(test["link"] as? String == "mixed" && test["link_changed"] as? Bool == true)
    #expect(test["link_interface"] as? String == "wwan0, wlan0")
    #expect(test["ping_shortest_ms"] as? Double == 20 && test["ping_median_ms"] as? Double == 30)
    #expect(test["ping_shortest_client_ms"] as? Double == 20.5)
  }

  @Test("when the modem reported cell and neighbours, then a test has the radio columns of fences, and signal and SIM")
  func radio() async throws {
    let radio = try #require(FenceRecord.whole().fence.radio)
    let tests = try await StoredSpeedTest.samples {
      ($0.cell, $0.environment, $0.signal) = (radio.cell, radio.environment, -97.25)
      ($0.simOperatorCode, $0.simOperatorName) = ("23203", "SIM")
    }
    var lines: [UInt8] = []
    try ExportFormat.jsonl.export(speedTests: tests) { lines += $0 }
    let test = try #require(try objects(String(decoding: lines, as: UTF8.self)).first)
    var fence: [UInt8] = []
    try ExportFormat.jsonl.export([FenceRecord.whole()]) { fence += $0 }
    let wanted = try #require(try objects(String(decoding: fence, as: UTF8.self)).first)
    let names = (RadioColumns.cell { (_: FenceRecord) in nil } + RadioColumns.environment).map(\.name)
    #expect(names.count == 17 && names.filter { wanted[$0] != nil }.count >= 16)
    for name in names { #expect(test[name] as? NSObject == wanted[name] as? NSObject, "\(name)") }
    #expect(test["signal_dbm"] as? Double == -97.3 && test["sim_operator"] as? String == "23203")
    #expect(test["sim_operator_name"] as? String == "SIM")
  }

  @Test("when tests are exported as a sequence, then it has the features of the collection, each after a separator")
  func sequence() throws {
    let records = try text(.geojsonseq).split(separator: "\u{1E}").map(String.init)
    #expect(records.count == 2 && records.allSatisfy { $0.hasSuffix("\n") })
    let collection = try text(.geojson)
    #expect(records.allSatisfy { collection.contains($0.dropLast()) })
  }

  @Test("when tests are exported as JSON Lines, then the curves reproduce the result, and track and pings are included")
  func lines() throws {
    let objects = try objects(try text(.jsonl))
    let curves = try #require(objects[0]["download_curves"] as? [[[Int64]]])
    #expect(curves.count == 3)
    let bytes: Int64 = curves.compactMap { $0.last?[1] }.reduce(0, +)
    let rate = bytes * 8 / 7000
    #expect(abs(rate - 47_800) <= 1, "bytes of all connections in 7 s, in kbit/s")
    #expect((objects[0]["ping_values"] as? [[Int64]])?.first == [20_500_000, 20_000_000, 0])
    #expect((objects[0]["track"] as? [[Double]])?.first == [7, 16.38, 48.21])
    #expect(objects[1]["download_curves"] == nil)
  }

  @Test("when tests are exported as CSV, then each has a line with every column of the header, and texts are quoted")
  func csv() throws {
    let lines = try text(.csv).components(separatedBy: "\r\n")
    #expect(lines.count == 4 && lines[3].isEmpty)
    #expect(lines[0] == SpeedTestColumns.table.map(\.name).joined(separator: ","))
    #expect(
      lines[1].hasPrefix(
        "1,\(tests[0].store ?? "-"),\"T,\"\"1\"\"\",L1,1,,submitted,completed,,2026-11-20T10:00:00.000Z,"))
    #expect(lines[2].filter { $0 == "," }.count == SpeedTestColumns.table.count - 1)
  }

  @Test("when there is no test, then each format is still complete")
  func empty() throws {
    for format in ExportFormat.ofSpeedTests {
      var bytes: [UInt8] = []
      try format.export(speedTests: []) { bytes += $0 }
      let text = String(decoding: bytes, as: UTF8.self)
      switch format {
      case .geojson: #expect(text == "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n")
      case .csv: #expect(text.hasSuffix("longitude\r\n"))
      case .geojsonseq, .jsonl: #expect(text.isEmpty)
      case .gpx: #expect(text.hasSuffix("urn:x-coverage-probe:gpx:1\">\n</gpx>\n"))
      case .kml: #expect(text.hasSuffix("<Folder><name>Speed tests</name>\n</Folder>\n</Document>\n</kml>\n"))
      case .gpkg: #expect(text.hasPrefix("SQLite format 3"))
      case .html: Issue.record("the map page has tests beside fences only")
      }
    }
  }

  @Test("when conditions are given, then a test is selected by its start, technology and link")
  func filter() throws {
    func selects(_ change: (inout FenceFilter) -> Void) -> [Bool] {
      var filter = FenceFilter()
      change(&filter)
      return tests.map(filter.selects)
    }
    #expect(selects { _ in } == [true, true])
    #expect(selects { $0.to = .sampleStart.later(by: .seconds(1)) } == [true, false])
    #expect(selects { $0.technologies = [TechnologyPattern("4G")].compactMap { $0 } } == [true, false])
    #expect(selects { $0.links = ["A"] } == [false, false])
  }

  // MARK: Documentation

  private static let begin =
    "<!-- speed tests: from Sources/Export/SpeedTests, by WRITE_DOCS=1 swift test --filter SpeedTestExportTests -->\n"
  private static let end = "\n<!-- end of speed tests -->"

  @Test("when a column is declared, then docs/export.md has it as declared")
  func documented() throws {
    let page = Surroundings.root.appending(path: "docs/export.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let begin = try #require(text.range(of: Self.begin))
    let end = try #require(text.range(of: Self.end))
    let rows = SpeedTestColumns.all.map { column in
      let note =
        [
          .list: " (only in JSON Lines)", .identity: " (in GeoJSON the id, in GeoPackage `fid`)",
          .position: " (the geometry, where a format has one)",
        ][column.role] ?? ""
      return "| `\(column.name)` | \(column.kind.rawValue) | \(column.meaning)\(note) |"
    }
    let table = (["| column | values | meaning |", "|---|---|---|"] + rows).joined(separator: "\n")
    if ProcessInfo.processInfo.environment["WRITE_DOCS"] != nil {
      try text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: table)
        .write(to: page, atomically: true, encoding: .utf8)
    } else {
      #expect(
        text[begin.upperBound..<end.lowerBound] == table,
        "write it again: WRITE_DOCS=1 swift test --filter SpeedTestExportTests")
    }
  }
}
