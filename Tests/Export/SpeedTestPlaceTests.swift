import Coverage
import Foundation
import GRDB
import OrderedJSON
import Store
import TestSupport
import Testing

@testable import Export

/// Speed tests of a real store in the formats that have places only: GPX, KML and GeoPackage, read back with SQLite and with GDAL.
@Suite struct SpeedTestPlaceTests {
  private struct DiskFull: Error {}

  private let tests: [StoredSpeedTest]

  init() async throws { tests = try await StoredSpeedTest.samples() }

  private func bytes(_ format: ExportFormat, _ tests: [StoredSpeedTest]? = nil) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try format.export(speedTests: tests ?? self.tests) { bytes += $0 }
    return bytes
  }

  private func text(_ format: ExportFormat) throws -> String { String(decoding: try bytes(format), as: UTF8.self) }

  private func file(_ format: ExportFormat, in folder: TemporaryFolder) throws -> String {
    let path = folder.file("tests.\(format.rawValue)")
    try Data(bytes(format)).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func rows(_ path: String, _ sql: String) throws -> [Row] {
    try DatabaseQueue(path: path).read { try Row.fetchAll($0, sql: sql) }
  }

  // MARK: XML

  @Test("when a test is a waypoint, then its elements have the order of the schema, and all figures are extensions")
  func waypoint() throws {
    let text = try text(.gpx)
    #expect(
      text.contains(
        """
        <wpt lat="48.2082" lon="16.3738"><time>2026-11-20T10:00:00.000Z</time><name>4G/LTE 47.8/19.1 Mbit/s</name>\
        <desc>download 47.8 Mbit/s, upload 19.1 Mbit/s, ping 30.0 ms</desc><type>speed test</type><extensions>\
        <cp:id>1</cp:id><cp:store_id>\(tests[0].store ?? "-")</cp:store_id>\
        <cp:test_uuid>T,&quot;1&quot;</cp:test_uuid>
        """), "\(text)")
    for column in SpeedTestColumns.fields where column.value(tests[0]) != nil {
      #expect(text.contains("</cp:\(column.name)>"), "\(column.name)")
    }
    #expect(text.contains("<cp:received_bytes>5000000000.0</cp:received_bytes>"), "GDAL cuts longer whole numbers")
    #expect(text.ranges(of: "<wpt ").count == 1, "the test without a place is left out")
  }

  @Test("when tests are exported as KML, then a folder has those with a place, with style, time span and schema fields")
  func placemark() throws {
    let text = try text(.kml)
    #expect(text.ranges(of: "<Folder><name>Speed tests</name>").count == 1)
    #expect(text.ranges(of: "<Placemark").count == 1 && text.contains("<Placemark id=\"speed-test-1\">"))
    #expect(
      text.contains("<TimeSpan><begin>2026-11-20T10:00:00.000Z</begin><end>2026-11-20T10:00:20.000Z</end></TimeSpan>"))
    #expect(text.contains("<styleUrl>#t-4g</styleUrl>") && text.contains("<Style id=\"t-4g\">"))
    for column in SpeedTestColumns.fields {
      #expect(text.contains("<SimpleField type=\"\(KML.type(of: column.kind))\" name=\"\(column.name)\"/>"))
      #expect(
        text.contains("<SimpleData name=\"\(column.name)\">") == (column.value(tests[0]) != nil), "\(column.name)")
    }
    #expect(text.contains("<SimpleData name=\"server_name\">A &amp; &quot;B&quot; &lt;C&gt;</SimpleData>"))
    #expect(text.contains("<SimpleData name=\"roaming\">0</SimpleData>"))
  }

  @Test("when a test has no rates, then its title is its outcome, and the description has the reason")
  func failed() {
    #expect(SpeedTestTitle.short(tests[1]) == "NONE failed")
    #expect(SpeedTestTitle.long(tests[1]) == "failed: no connection")
  }

  @Test("when a format needs places, then it is marked as such; the other formats have every test")
  func needsPlaces() throws {
    #expect(ExportFormat.ofSpeedTests.filter(\.needsPlaces) == [.gpx, .kml, .gpkg])
    for format in [ExportFormat.geojsonseq, .jsonl] {
      #expect(try text(format).filter { $0 == "\n" }.count == 2, "\(format)")
    }
  }

  // MARK: GeoPackage

  @Test("when tests are exported as a GeoPackage, then the layer has typed values, an R-tree, a style and descriptions")
  func package() throws {
    let folder = try TemporaryFolder()
    let path = try file(.gpkg, in: folder)
    let found = try rows(path, "SELECT * FROM speed_tests")
    #expect(found.count == 1)
    let row = try #require(found.first)
    #expect(row["fid"] == 1)
    for column in SpeedTestColumns.properties {
      let value: DatabaseValue = row[column.name]
      let wanted = column.value(tests[0])
      switch value.storage {
      case .null: #expect(wanted == nil, "\(column.name)")
      case .int64(let number) where column.kind == .boolean: #expect(wanted == .bool(number == 1), "\(column.name)")
      case .int64(let number): #expect(wanted?.plainText == "\(number)", "\(column.name)")
      case .double(let number):
        #expect(column.kind == .decimal && Double(wanted?.text ?? "") == number, "\(column.name)")
      case .string(let text):
        #expect([.text, .time].contains(column.kind) && wanted?.plainText == text, "\(column.name)")
      case .blob: Issue.record("\(column.name) is a blob")
      }
    }
    #expect(try rows(path, "PRAGMA integrity_check").map { $0[0] } == ["ok"])
    #expect(
      try rows(path, "SELECT id FROM rtree_speed_tests_geom WHERE miny > 48.2 AND maxy < 48.3").map { $0[0] } == [1])
    #expect(
      try rows(path, "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'speed_tests'").count == 6)
    let described = try rows(path, "SELECT column_name FROM gpkg_data_columns WHERE table_name = 'speed_tests'")
    #expect(described.count == SpeedTestColumns.properties.count)
    let styles = try rows(path, "SELECT f_table_name, styleQML FROM layer_styles")
    #expect(styles.map { $0[0] as String? } == ["speed_tests"])
    #expect((styles.first?["styleQML"] as String?)?.contains("square") == true)
  }

  @Test("when the package cannot be written, then the export ends with that error, and leaves nothing behind")
  func failures() throws {
    let folder = try TemporaryFolder()
    #expect(throws: DiskFull.self) {
      try ExportFormat.gpkg.export(speedTests: tests, scratch: folder.path) { _ in throw DiskFull() }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(throws: GeoPackageError.self) {
      try ExportFormat.gpkg.export(speedTests: tests, scratch: folder.file("missing")) { _ in }
    }
  }

  // MARK: GDAL

  /// The only feature of a layer as GDAL reads it.
  private func feature(_ path: String, _ layer: String) async throws -> [String: Any] {
    let ogr2ogr = try RunningProgram(
      try #require(Surroundings.program("ogr2ogr")),
      ["-f", "GeoJSONSeq", "-lco", "COORDINATE_PRECISION=7", "-preserve_fid", "/vsistdout/", path, layer])
    #expect(try await ogr2ogr.exitStatus() == 0)
    #expect(!ogr2ogr.standardError.contains("ERROR"), "\(ogr2ogr.standardError)")
    let lines = ogr2ogr.standardOutput.split(whereSeparator: { $0.isNewline || $0 == "\u{1E}" })
    #expect(lines.count == 1, "\(ogr2ogr.standardOutput)")
    let line = try #require(lines.first)
    return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  /// Whether GDAL's value is that of the column; its times have other separators.
  private func isSame(_ value: Any?, _ wanted: JSON) -> Bool {
    switch wanted {
    case .integer, .number, .decimal: "\(value ?? "")" == wanted.text || Double("\(value ?? "")") == Double(wanted.text)
    case .bool(let isTrue): (value as? NSNumber)?.boolValue == isTrue || value as? String == "\(isTrue)"
    case .string(let text):
      value as? String == text || value as? Int == Int(text)
        || (value as? String)?.replacing("/", with: "-").replacing(" ", with: "T").replacing("+00", with: "Z")
          == text.replacing(".000Z", with: "Z")
    default: false
    }
  }

  @Test(
    "when GDAL opens the file, then it finds one feature at its place, and every column has its value",
    .enabled(if: Surroundings.program("ogr2ogr") != nil, "gdal-bin is not installed"),
    arguments: [
      (ExportFormat.gpx, "waypoints", "cp_"), (.kml, "Speed tests", ""), (.gpkg, "speed_tests", ""),
    ])
  func gdal(format: ExportFormat, layer: String, prefix: String) async throws {
    let folder = try TemporaryFolder()
    let feature = try await feature(try file(format, in: folder), layer)
    let geometry = try #require(feature["geometry"] as? [String: Any])
    #expect((geometry["coordinates"] as? [Double])?.prefix(2) == [16.3738, 48.2082])
    let properties = try #require(feature["properties"] as? [String: Any])
    for column in format == .gpkg ? SpeedTestColumns.properties : SpeedTestColumns.fields {
      guard let wanted = column.value(tests[0]) else { continue }
      let value = properties[prefix + column.name]
      #expect(isSame(value, wanted), "\(format), \(column.name): \(value ?? "nothing") is not \(wanted.plainText)")
    }
  }
}
