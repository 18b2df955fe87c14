import Coverage
import Foundation
import GRDB
import OrderedJSON
import TestSupport
import Testing

@testable import Export
@testable import Store

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// What an export rests on, read back from each format (docs/export.md, "Provenance").
struct ProvenanceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let log =
    #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","parameters":{"minimum_radius":30,"accuracy_limit":40}}"# + "\n"
    + #"{"at":0.0,"fix":{"latitude":48.2,"longitude":16.3},"driver":"u-blox"}"# + "\n"
  /// Of ``log``, by sha256sum(1).
  private static let digest = "b6f3c9b8648f9579764abb80f43868b36670adafe194ca34beafb90a67385617"
  private static var wantedFilters: NSDictionary { ["state": "all", "links": ["<A> & \"B\""]] }

  private func session(_ id: Int64, drive: Int64, equipment: ModemEquipment? = nil) -> StoredSession {
    StoredSession(
      id: id, drive: drive, driveStarted: .sampleStart,
      session: Session(number: 0, started: .start, equipment: equipment), link: "<A> & \"B\"", store: "U")
  }

  /// Of two drives, the log of one of which is there.
  private func provenance() throws -> ExportProvenance {
    let path = try folder.write(Self.log, to: "a.jsonl")
    var filter = FenceFilter()
    filter.links = ["<A> & \"B\""]
    return ExportProvenance(
      content: "fences", exported: .sampleStart, store: StoreIdentity(uuid: "U", lastFence: 9), state: "all",
      sessions: [], filter: filter, configuration: .object(["pings.interval": .seconds(.milliseconds(100))]),
      drives: [
        try #require(
          DriveProvenance(
            of: [session(3, drive: 1, equipment: .sample), session(4, drive: 1)],
            fences: 7, log: StoredDriveLog(name: "a.jsonl", path: path))),
        try #require(
          DriveProvenance(
            of: [session(5, drive: 2)], fences: 1, log: StoredDriveLog(name: "b.jsonl", path: nil))),
      ])
  }

  private func bytes(_ format: ExportFormat) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let provenance = try provenance()
    try format.export([.whole(), .bare()], provenance: { provenance }, scratch: folder.path) { bytes += $0 }
    return bytes
  }

  private func object(_ json: some Sequence<UInt8>) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(json)) as? NSDictionary)
  }

  /// That a provenance, read back, is the one of ``provenance()``.
  private func expectWhole(_ read: NSDictionary) throws {
    #expect(read["program"] as? String == "coverage-probe \(Program.version)")
    #expect(read["exported_at"] as? String == "2026-11-20T10:00:00.000Z")
    #expect(read["store_id"] as? String == "U")
    #expect(read["filters"] as? NSDictionary == Self.wantedFilters)
    #expect(read["configuration_at_export"] as? NSDictionary == ["pings.interval": 0.1])
    let drives = try #require(read["drives"] as? [NSDictionary])
    #expect(drives.map { $0["drive"] as? Int } == [1, 2])
    #expect(drives[0]["sessions"] as? [Int] == [3, 4])
    #expect(
      drives[0]["log"] as? NSDictionary == [
        "name": "a.jsonl", "bytes": Self.log.utf8.count, "sha256": Self.digest,
      ])
    let parameters = (drives[0]["settings"] as? NSDictionary)?["parameters"] as? NSDictionary
    #expect(drives.map { $0["receiver"] as? String } == ["u-blox", nil])
    #expect(parameters?["minimum_radius"] as? Int == 30, "the recording's own, not the present ones")
    #expect(drives[1]["log"] as? NSDictionary == ["name": "b.jsonl", "missing": "the log is no longer there"])
    #expect(drives[1]["settings"] == nil && drives[1]["equipment"] == nil)
    let equipment = try #require(drives[0]["equipment"] as? [NSDictionary])
    #expect(equipment.map { $0["model"] as? String } == ["M <1>"] && equipment[0]["ip_family"] as? String == "ipv4v6")
  }

  @Test("when fences are GeoJSON, then the provenance is a foreign member of the collection behind its features")
  func geoJSON() throws {
    let bytes = try bytes(.geojson)
    let collection = try object(bytes)
    try expectWhole(try #require(collection["provenance"] as? NSDictionary))
    #expect((collection["features"] as? [Any])?.count == 2 && (collection["bbox"] as? [Any])?.count == 4)
    #expect(String(decoding: bytes, as: UTF8.self).contains("\n],\"bbox\":["))
  }

  @Test("when a log names the driver of the receiver, then the report has it below its title")
  func receiver() throws {
    let provenance = try provenance()
    let page = ReportPage(
      Report(parts: [.init(title: "T", figures: ReportFigures(), provenance: provenance)], comparison: nil)
    ).html
    #expect(page.contains("<dt>receiver, by gpsd</dt><dd>u-blox</dd>"))
    #expect(page.contains(">sessions 3 to 5, 1 drive log</a>"))
  }

  @Test("when the first line of a log cannot be read, then the provenance says so in place of the settings")
  func unreadableSettings() throws {
    let path = try folder.write("{\"drive\":\n" + Self.log, to: "torn.jsonl")
    let drive = try #require(
      DriveProvenance(
        of: [session(3, drive: 1)], fences: 7, log: StoredDriveLog(name: "torn.jsonl", path: path)))
    let log = try #require(try object(drive.json.text.utf8)["log"] as? NSDictionary)
    #expect(log["sha256"] is String && log["settings_missing"] as? String != nil, "\(log)")
    #expect(drive.settings == nil && drive.line.contains("settings unknown: "), "\(drive.line)")
    #expect(drive.logText.name.hasPrefix("torn.jsonl: settings unknown, ") && drive.logText.sha256 != nil)
  }

  @Test("when there is no fence, then the collection has the provenance all the same")
  func noFence() throws {
    var bytes: [UInt8] = []
    let provenance = try provenance()
    try ExportFormat.geojson.export([FenceRecord](), provenance: { provenance }) { bytes += $0 }
    try expectWhole(try #require(try object(bytes)["provenance"] as? NSDictionary))
  }

  @Test(
    "when fences are GPX or KML, then the provenance is where the schema has it", arguments: [ExportFormat.gpx, .kml])
  func xml(format: ExportFormat) throws {
    let document = try XMLDocument(data: Data(try bytes(format)))
    let root = try #require(document.rootElement())
    func names(_ element: XMLElement?) -> [String] {
      (element?.children ?? []).filter { $0.kind == .element }.compactMap(\.name)
    }
    if format == .gpx {
      #expect(names(root).first == "metadata")
      let metadata = root.elements(forName: "metadata").first
      #expect(names(metadata) == ["desc", "extensions"])
      let json = metadata?.elements(forName: "extensions").first?.children?.first { $0.kind == .element }
      #expect(json?.name == "cp:provenance")
      try expectWhole(object(Array((json?.stringValue ?? "").utf8)))
      #expect(
        metadata?.elements(forName: "desc").first?.stringValue?.contains("2 drives, 1 drive log with SHA-256") == true)
    } else {
      let ofDocument = try #require(root.elements(forName: "Document").first)
      let order = names(ofDocument).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
      #expect(order == ["name", "Style", "ExtendedData", "Schema", "Folder"])
      let data = ofDocument.elements(forName: "ExtendedData").first?.elements(forName: "Data").first
      #expect(data?.attributes?.first?.stringValue == "provenance")
      try expectWhole(object(Array((data?.elements(forName: "value").first?.stringValue ?? "").utf8)))
    }
  }

  @Test("when fences are a GeoPackage, then the provenance is metadata of the package, by the tables of the standard")
  func geoPackage() throws {
    let path = folder.file("drive.gpkg")
    try Data(try bytes(.gpkg)).write(to: URL(fileURLWithPath: path))
    let (row, references, extensions) = try DatabaseQueue(path: path).read { database in
      (
        try Row.fetchOne(database, sql: "SELECT * FROM gpkg_metadata"),
        try Row.fetchAll(database, sql: "SELECT reference_scope, table_name, md_file_id FROM gpkg_metadata_reference"),
        try String.fetchAll(
          database, sql: "SELECT table_name FROM gpkg_extensions WHERE extension_name = 'gpkg_metadata' ORDER BY 1")
      )
    }
    #expect(row?["md_scope"] == "dataset" && row?["mime_type"] == "application/json")
    try expectWhole(object(Array(((row?["metadata"] as String?) ?? "").utf8)))
    #expect(references.map { $0["reference_scope"] as String } == ["geopackage"])
    #expect(references.first?["md_file_id"] as Int64? == row?["id"] as Int64?)
    #expect(references.first?["table_name"] as String? == nil)
    #expect(extensions == ["gpkg_metadata", "gpkg_metadata_reference"])
  }

  @Test(
    "when GDAL opens a GeoPackage, then it shows the provenance",
    .enabled(if: Surroundings.program("ogrinfo") != nil, "gdal-bin is not installed"))
  func gdal() async throws {
    let path = folder.file("drive.gpkg")
    try Data(try bytes(.gpkg)).write(to: URL(fileURLWithPath: path))
    let ogrinfo = try RunningProgram(try #require(Surroundings.program("ogrinfo")), ["-ro", "-so", "-al", path])
    #expect(try await ogrinfo.exitStatus() == 0)
    let text = ogrinfo.standardOutput
    let line = try #require(text.split(separator: "\n").first { $0.contains("\"exported_at\"") }, "\(text)")
    try expectWhole(object(Array(line[(line.firstIndex(of: "{") ?? line.endIndex)...].utf8)))
    #expect(!(text + ogrinfo.standardError).contains("Warning"), "\(text)")
  }

  @Test("when a map page is made, then it has the provenance as JSON, and a line for people below the map")
  func map() throws {
    guard FileManager.default.fileExists(atPath: MapOptions().leaflet) else { return }
    let page = String(decoding: try bytes(.html), as: UTF8.self)
    let match = try #require(page.firstMatch(of: /<script type="application\/json" id="provenance">(.*?)<\/script>/))
    try expectWhole(object(Array(match.1.utf8)))
    #expect(page.contains("<footer><p>coverage-probe \(Program.version), fences exported 2026-11-20T10:00:00.000Z"))
    #expect(
      page.contains("drive 1, link &lt;A&gt; &amp; &quot;B&quot;: a.jsonl, \(Self.log.utf8.count) bytes, SHA-256 "))
    #expect(page.contains("drive 2, link &lt;A&gt; &amp; &quot;B&quot;: b.jsonl: the log is no longer there"))
  }

  @Test(
    "when a format has no place for the provenance, then its records are the same as without",
    arguments: [
      ExportFormat.csv, .jsonl, .geojsonseq,
    ])
  func unchanged(format: ExportFormat) throws {
    #expect(!format.hasProvenance)
    #expect(try bytes(format) == format.bytes([.whole(), .bare()]))
  }

  @Test("when the provenance is in a file of its own, then it names the export and its digest")
  func beside() throws {
    let json = try provenance().json(beside: "day.csv", FileDigest(bytes: 3, sha256: "ff"))
    let read = try object(Array(json.text.utf8))
    try expectWhole(read)
    #expect(read["file"] as? NSDictionary == ["name": "day.csv", "bytes": 3, "sha256": "ff"])
  }

  @Test("when speed tests are exported, then each format with a place has the provenance, and others are unchanged")
  func speedTests() throws {
    let provenance = try provenance()
    for format in ExportFormat.ofSpeedTests where format != .gpkg {
      var (with, without): ([UInt8], [UInt8]) = ([], [])
      try format.export(speedTests: [], provenance: { provenance }) { with += $0 }
      try format.export(speedTests: []) { without += $0 }
      #expect((with != without) == format.hasProvenance, "\(format)")
      if format == .geojson { try expectWhole(try #require(try object(with)["provenance"] as? NSDictionary)) }
    }
  }

  @Test("when filters are given, then the provenance has them as the options of export take them")
  func filters() throws {
    var filter = FenceFilter()
    (filter.from, filter.to) = (.sampleStart, .sampleStart.later(by: .seconds(60)))
    filter.box = SearchBox("16,48,17.5,49")
    filter.technologies = ["5G", "4G/LTE", "none"].compactMap(TechnologyPattern.init)
    let provenance = ExportProvenance(
      content: "fences", exported: .sampleStart, store: nil, state: "pending", sessions: [4, 2], filter: filter,
      configuration: .object([:]), drives: [])
    let read = try object(Array(provenance.json.text.utf8))
    #expect(
      read["filters"] as? NSDictionary == [
        "state": "pending", "sessions": [2, 4], "from": "2026-11-20T10:00:00.000Z", "to": "2026-11-20T10:01:00.000Z",
        "bbox": [16, 48, 17.5, 49], "technologies": ["5G", "4G/LTE", "none"],
      ])
    #expect(read["store_id"] == nil && read["drives"] == nil)
  }
}
