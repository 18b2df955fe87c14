import Coverage
import Foundation
import GRDB
import OrderedJSON
import Store
import TestSupport
import Testing

@testable import Export

/// GeoPackage 1.3 (OGC 12-128r17), read back with SQLite and with GDAL.
struct GeoPackageTests {
  private struct DiskFull: Error {}

  private func package(_ records: [FenceRecord], tracks: [TrackSegment] = [], in folder: TemporaryFolder) throws
    -> String
  {
    let path = folder.file("drive.gpkg")
    try Data(ExportFormat.gpkg.bytes(records, tracks: tracks)).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func rows(_ path: String, _ sql: String) throws -> [Row] {
    try DatabaseQueue(path: path).read { try Row.fetchAll($0, sql: sql) }
  }

  /// A value of SQLite as the text exports write it.
  private func text(_ value: DatabaseValue, of column: Export.Column<FenceRecord>) -> String? {
    switch (value.storage, column.kind) {
    case (.double(let number), .decimal): JSON.rounded(number, places: 7)?.text
    case (.int64(let number), .boolean): number == 1 ? "true" : number == 0 ? "false" : nil
    case (.int64(let number), .integer), (.int64(let number), .long): "\(number)"
    case (.string(let text), .text), (.string(let text), .time), (.string(let text), .object): text
    default: nil
    }
  }

  private func values(_ path: String, _ sql: String) throws -> [String] {
    try rows(path, sql).map { row in row.databaseValues.map { "\($0)" }.joined(separator: " ") }
  }

  @Test("when fences are exported, then the file is marked as a GeoPackage, and is intact")
  func header() throws {
    let folder = try TemporaryFolder()
    let path = try package([.whole(), .bare()], in: folder)
    #expect(try values(path, "PRAGMA application_id") == ["\(0x4750_4B47)"])
    #expect(try values(path, "PRAGMA user_version") == ["10300"])
    #expect(try rows(path, "PRAGMA integrity_check").map { $0[0] } == ["ok"])
    #expect(try rows(path, "PRAGMA foreign_key_check").isEmpty)
    #expect(try rows(path, "PRAGMA journal_mode").map { $0[0] } == ["delete"])
  }

  @Test("when a fence has every value, then each column has it in SQLite's type, in both layers")
  func everyValue() throws {
    let folder = try TemporaryFolder()
    let record = FenceRecord.whole()
    let path = try package([record], in: folder)
    for table in ["fences", "fence_centres"] {
      let row = try #require(try rows(path, "SELECT * FROM \(table)").first)
      for column in ColumnList.storedProperties {
        let value: DatabaseValue = row[column.name]
        #expect(text(value, of: column) == column.value(record)?.plainText, "\(column.name)")
      }
      #expect(row["fid"] == 7)
      #expect(row["avg_ping_ms"] == 31.67)
      #expect(row["cell_id"] == 16_909_060)
      #expect(row["entered_at"] == "2026-11-20T10:00:10.000Z")
      #expect(row["roaming"] == true)
      #expect(row["technology_shares"] == #"{"4G/LTE":0.75,"NONE":0.25}"#)
    }
  }

  @Test("when a fence has few values, then the other columns are NULL")
  func bare() throws {
    let folder = try TemporaryFolder()
    let row = try #require(try rows(try package([.bare()], in: folder), "SELECT * FROM fences").first)
    let null = ColumnList.storedProperties.map(\.name).filter { (row[$0] as DatabaseValue).isNull }
    #expect(null == ColumnList.storedProperties.filter { $0.value(.bare()) == nil }.map(\.name))
  }

  @Test("when a layer is created, then the tables of GeoPackage have it and its extent")
  func contents() throws {
    let folder = try TemporaryFolder()
    let records: [FenceRecord] = [.bare(latitude: 48, longitude: 16), .bare(id: 9, latitude: 49, longitude: 17)]
    let path = try package(records, tracks: [.sample()], in: folder)
    let extent = try values(
      path, "SELECT min_x, min_y, max_x, max_y, srs_id FROM gpkg_contents WHERE table_name = 'fence_centres'")
    #expect(extent == ["16.0 48.0 17.0 49.0 4326"])
    let kinds = try rows(path, "SELECT geometry_type_name FROM gpkg_geometry_columns ORDER BY table_name")
    #expect(kinds.map { $0[0] } == ["POINT", "MULTIPOLYGON", "LINESTRING"])
  }

  @Test(
    "when a layer is created, then it has an index with triggers, and each of its columns is described",
    arguments: ["fences", "fence_centres", "tracks"])
  func layer(table: String) throws {
    let folder = try TemporaryFolder()
    let path = try package([.bare()], tracks: [.sample()], in: folder)
    let extensions = "FROM gpkg_extensions WHERE table_name = '\(table)' AND extension_name = 'gpkg_rtree_index'"
    #expect(try values(path, "SELECT count(*) \(extensions)") == ["1"])
    #expect(
      try values(path, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '\(table)'") == ["6"])
    let described = try values(
      path, "SELECT column_name FROM gpkg_data_columns WHERE table_name = '\(table)' ORDER BY 1")
    let columns = try values(
      path, "SELECT name FROM pragma_table_info('\(table)') WHERE name NOT IN ('fid', 'geom') ORDER BY 1")
    #expect(described == columns && !columns.isEmpty)
  }

  @Test("when an area is searched, then the R-tree finds exactly the fences in it")
  func index() throws {
    let folder = try TemporaryFolder()
    let records = (0..<50).map { FenceRecord.bare(id: Int64($0 + 1), latitude: 48 + Double($0) / 100, longitude: 16) }
    let path = try package(records, in: folder)
    let found = "SELECT id FROM rtree_fences_geom WHERE miny >= 48.095 AND maxy <= 48.125 ORDER BY id"
    #expect(try values(path, found) == ["11", "12", "13"])
  }

  @Test("when there is no fence and no track, then the package has empty layers")
  func empty() throws {
    let folder = try TemporaryFolder()
    let path = try package([], in: folder)
    #expect(try values(path, "SELECT count(*) FROM fences") == ["0"])
    #expect(try values(path, "SELECT count(*) FROM gpkg_contents WHERE min_x IS NULL") == ["4"])
  }

  @Test("when there are styles, then each is for a layer, and the first has every technology that fences can have")
  func styles() throws {
    let folder = try TemporaryFolder()
    let styles = try rows(try package([.whole()], in: folder), "SELECT * FROM layer_styles ORDER BY id")
    let names = styles.map { "\($0["f_table_name"] as String) \($0["styleName"] as String)" }
    let figures = ["fences", "fence_centres"].flatMap { table in ["delay", "loss", "signal"].map { "\(table) \($0)" } }
    #expect(names == ["fences technology", "fence_centres technology", "tracks track"] + figures)
    #expect(styles.map { $0["useAsDefault"] as Bool } == [true, true, true] + figures.map { _ in false })
    let qml: String = try #require(styles.first)["styleQML"]
    for name in Technology.knownNames { #expect(qml.contains("'\(name)'") == (name != "NONE"), "\(name)") }
    #expect(qml.contains("0,222,255,255"), "LTE is light blue, as on the map")
  }

  @Test("when a style is by a figure, then each fence has one of its rules, that of the map page's class")
  func figureStyles() throws {
    let folder = try TemporaryFolder()
    let path = try package([.whole()], in: folder)
    let queue = try DatabaseQueue(path: path)
    // SQLite has no functions of GeoPackage here.
    try queue.write { database in
      for trigger in try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'") {
        try database.execute(sql: "DROP TRIGGER \"\(trigger)\"")
      }
    }
    for fence in FigureCase.all {
      try queue.write { database in
        try database.execute(
          sql: """
            UPDATE fences SET pings = ?, pings_ok = ?, p50_ping_ms = ?, avg_ping_ms = ?, rsrp_min_dbm = ?,
              submittable = ?, technology = '4G/LTE'
            """,
          arguments: [fence.pings, fence.answered, fence.delay, fence.delay, fence.level, fence.isSubmittable])
      }
      for (name, expected) in zip(["delay", "loss", "signal"], fence.classes) {
        let style = try #require(FigureStyle.all.first { $0.table == "fences" && $0.name == name })
        let labels = try queue.read { database in
          try style.qml.matches(of: /<rule [^>]*filter="([^"]*)" label="([^"]*)"/).filter { rule in
            let filter = String(rule.1).replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing(
              "&gt;", with: ">")
            return try Bool.fetchOne(database, sql: "SELECT \(filter) FROM fences") ?? false
          }.map { String($0.2) }
        }
        #expect(labels == [expected], "\(name) of \(fence)")
      }
    }
  }

  /// A fence on LTE, and its classes by delay, loss and signal.
  private struct FigureCase {
    let pings, answered: Int
    let delay, level: Double?
    let isSubmittable: Bool
    let classes: [String]

    init(_ pings: Int, _ answered: Int, _ delay: Double?, _ level: Double?, _ isSubmittable: Bool, _ classes: [String])
    {
      (self.pings, self.answered, self.delay, self.level) = (pings, answered, delay, level)
      (self.isSubmittable, self.classes) = (isSubmittable, classes)
    }

    static let all = [
      FigureCase(30, 30, 12, -79.9, true, ["under 30 ms", "no loss", "-80 dBm or more"]),
      FigureCase(100, 98, 30, -80.1, true, ["under 60 ms", "up to 2 %", "-90 dBm or more"]),
      FigureCase(100, 97, 299.9, -110, true, ["under 300 ms", "up to 10 %", "-110 dBm or more"]),
      FigureCase(100, 89, 300, -110.1, true, ["300 ms or more", "more", "less"]),
      FigureCase(30, 0, nil, nil, true, ["no answer", "all lost", "unknown"]),
      FigureCase(0, 0, nil, -70, true, ["not measured", "not measured", "not measured"]),
      FigureCase(8, 5, 70, -95, false, ["under 120 ms", "more", "-100 dBm or more"].map { "\($0), touched by Wi-Fi" }),
      FigureCase(8, 0, nil, nil, false, (0..<3).map { _ in "not measured, Wi-Fi, or pings not sent" }),
    ]
  }

  @Test("when a layer has a style, then each of its columns has a name for people, and a map tip is there")
  func aliases() throws {
    let folder = try TemporaryFolder()
    let path = try package([.whole()], in: folder)
    for style in try rows(path, "SELECT f_table_name, styleQML FROM layer_styles") {
      let (table, qml): (String, String) = (style["f_table_name"], style["styleQML"])
      let named = qml.matches(of: /<alias index="\d+" field="([^"]*)" name="[^"]+"/).map { String($0.1) }
      let sql = "SELECT name FROM pragma_table_info('\(table)') WHERE name NOT IN ('fid', 'geom')"
      let columns: [String] = try rows(path, sql).map { $0[0] }
      #expect(named == columns)
      #expect(qml.contains("<mapTip enabled=\"1\">"))
    }
    #expect(LayerFields.alias(of: "p50_ping_ms") == "Median delay (ms)")
    #expect(LayerFields.alias(of: "rsrp_min_dbm") == "RSRP lowest (dBm)" && LayerFields.alias(of: "link") == "Link")
    #expect(LayerFields.alias(of: "cell_bandwidth_khz") == "Cell bandwidth (kHz)")
  }

  @Test("when the package is being written, then its file has no name: a killed export leaves no file behind")
  func nameless() throws {
    let folder = try TemporaryFolder()
    var names: [[String]] = []
    try ExportFormat.gpkg.export([.bare()], scratch: folder.path) { _ in
      names.append(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }
    #expect(!names.isEmpty && names.allSatisfy(\.isEmpty))
  }

  @Test("when the package cannot be written, then the export ends with that error, and leaves nothing behind")
  func failures() throws {
    let folder = try TemporaryFolder()
    #expect(throws: DiskFull.self) {
      try ExportFormat.gpkg.export([.bare()], scratch: folder.path) { _ in throw DiskFull() }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let error = #expect(throws: GeoPackageError.self) {
      try ExportFormat.gpkg.export([.bare()], scratch: folder.file("missing")) { _ in }
    }
    #expect(error?.description.contains(folder.file("missing")) == true)
  }

  @Test(
    "when GDAL opens the package, then it finds each layer with its count, extent and geometry",
    .enabled(if: Surroundings.program("ogrinfo") != nil, "gdal-bin is not installed"))
  func gdal() async throws {
    let folder = try TemporaryFolder()
    let records = (0..<25).map { FenceRecord.whole(id: Int64($0 + 1), latitude: 48 + Double($0) / 1000) }
    let path = try package(records, tracks: [.sample()], in: folder)
    let ogrinfo = try RunningProgram(try #require(Surroundings.program("ogrinfo")), ["-ro", "-so", "-al", path])
    #expect(try await ogrinfo.exitStatus() == 0)
    let text = ogrinfo.standardOutput
    for facts in [
      "Geometry: Multi Polygon\nFeature Count: 25",
      "Geometry: Point\nFeature Count: 25\nExtent: (16.373800, 48.000000) - (16.373800, 48.024000)",
      "Geometry: Line String\nFeature Count: 1",
    ] { #expect(text.contains(facts), "\(text)") }
    #expect(!(text + ogrinfo.standardError).contains("Warning"), "\(text)")
  }

  @Test(
    "when GDAL searches a window in many fences, then the R-tree gives exactly the fences in it",
    .enabled(if: Surroundings.program("ogrinfo") != nil, "gdal-bin is not installed"))
  func window() async throws {
    let folder = try TemporaryFolder()
    // More than two levels of the tree.
    let records = (0..<4000).map { FenceRecord.bare(id: Int64($0 + 1), latitude: 48 + Double($0) / 1000) }
    let path = try package(records, in: folder)
    let ogrinfo = try RunningProgram(
      try #require(Surroundings.program("ogrinfo")),
      ["-ro", "-so", "-spat", "-180", "48.9995", "180", "49.4995", path, "fence_centres"])
    #expect(try await ogrinfo.exitStatus() == 0)
    #expect(ogrinfo.standardOutput.contains("Feature Count: 500\n"), "\(ogrinfo.standardOutput)")
  }

  @Test("when an export states what it has, then the package has a table with it")
  func statement() throws {
    var filter = FenceFilter()
    filter.from = .sampleStart
    func statement(_ filter: FenceFilter, isOfSessions: Bool = false) -> ExportStatement {
      ExportStatement(
        StoreIdentity(uuid: "U", lastFence: 7), exported: .sampleStart, state: "all", filter: filter,
        isOfSessions: isOfSessions)
    }
    let row = try stated(statement(filter))
    #expect(row == ["U", "2026-11-20T10:00:00.000Z", "7", "2026-11-20T10:00:00.000Z", nil, "all", "0"])
    filter.links = ["A"]
    #expect(try stated(statement(filter)).last == "1")
    #expect(try stated(statement(FenceFilter(), isOfSessions: true)).last == "1")
  }

  private func stated(_ statement: ExportStatement) throws -> [String?] {
    var bytes: [UInt8] = []
    let folder = try TemporaryFolder()
    try ExportFormat.gpkg.export([FenceRecord.bare()], statement: statement, scratch: folder.path) { bytes += $0 }
    let path = folder.file("stated.gpkg")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return try DatabaseQueue(path: path).read { database in
      let row = try Row.fetchOne(
        database,
        sql: "SELECT store_id, exported_at, last_fence, from_time, to_time, state, filtered FROM export")
      let values = row.map { Array($0.databaseValues) } ?? []
      return values.map { String.fromDatabaseValue($0) ?? Int64.fromDatabaseValue($0)?.description }
    }
  }
}
