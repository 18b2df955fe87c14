import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Export

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Texts from outside (names of links and operators, identifiers of tests) in every format.
struct HostileTextTests {
  private static let texts = [
    "</wpt></gpx>", "]]>", "<!--", "&amp;", "\"", "'", "a,b", "a\r\nb", "\u{0}\u{1}\u{8}", "\u{2028}", "\u{1F697}",
    "=1+1",
    "</script>", "\\", "\t", " ", "\u{FFFE}",
  ]

  private func records() -> [FenceRecord] {
    Self.texts.enumerated().map { number, text in
      var radio = FenceRadio.sample
      (radio.operatorName, radio.operatorCode) = (text, text)
      radio.technologies = [.init(technology: text, microseconds: 1)]
      return FenceRecord(
        id: Int64(number + 1), fence: .sample(number: number, radio: radio),
        session: Session(number: 0, testUUID: text, started: .start, anchor: .start),
        origin: .store(driveStarted: .sampleStart, session: Int64(number + 1)), link: text)
    }
  }

  /// A reader of RFC 4180.
  private func fields(_ text: String) -> [[String]] {
    var (rows, row, field, isQuoted): ([[String]], [String], String, Bool) = ([], [], "", false)
    var rest = Array(text.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch (scalar, isQuoted) {
      case ("\"", true) where rest.first == "\"":
        rest.removeFirst()
        field.unicodeScalars.append("\"")
      case ("\"", _): isQuoted.toggle()
      case (",", false):
        row.append(field)
        field = ""
      case ("\r", false) where rest.first == "\n":
        rest.removeFirst()
        rows.append(row + [field])
        (row, field) = ([], "")
      default: field.unicodeScalars.append(scalar)
      }
    }
    return rows
  }

  @Test("when texts have special characters of JSON, then both JSON formats have them unchanged")
  func json() throws {
    let collection =
      try JSONSerialization.jsonObject(with: Data(ExportFormat.geojson.bytes(records()))) as? [String: Any]
    let features = try #require(collection?["features"] as? [[String: Any]])
    #expect(features.compactMap { ($0["properties"] as? [String: Any])?["link"] as? String } == Self.texts)
    let lines = try ExportFormat.jsonl.bytes(records()).split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == Self.texts.count)
    for (line, text) in zip(lines, Self.texts) {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
      #expect(object["operator_name"] as? String == text && object["test_uuid"] as? String == text)
      #expect((object["technology_shares"] as? [String: Any])?.keys.first == text)
    }
  }

  @Test(
    "when texts have special characters of CSV, then a reader that removes the apostrophe before formulas finds them")
  func csv() throws {
    let rows = fields(try ExportFormat.csv.text(records()))
    #expect(rows.count == Self.texts.count + 1)
    #expect(rows.allSatisfy { $0.count == ColumnList.storedTable.count })
    let link = try #require(rows[0].firstIndex(of: "link"))
    // Foundation's strings compare CR LF as one character; their bytes are what counts.
    #expect(rows.dropFirst().map { Array($0[link].withoutMark.utf8) } == Self.texts.map { Array($0.utf8) })
  }

  @Test(
    "when texts have special characters of XML, then the documents are well-formed",
    arguments: [ExportFormat.gpx, .kml])
  func xml(format: ExportFormat) throws {
    let track = TrackSegment.sample(link: Self.texts.joined())
    for shape in FenceShape.allCases {
      let parser = XMLParser(data: Data(try format.bytes(records(), tracks: [track], shape: shape)))
      #expect(parser.parse(), "\(String(describing: parser.parserError)), line \(parser.lineNumber)")
    }
  }

  @Test("when texts have special characters of SQL, then the GeoPackage has them unchanged")
  func geoPackage() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("drive.gpkg")
    try Data(ExportFormat.gpkg.bytes(records())).write(to: URL(fileURLWithPath: path))
    let links = try DatabaseQueue(path: path).read { db in
      try Row.fetchAll(db, sql: "SELECT CAST(link AS BLOB) AS link FROM fences ORDER BY fid").map { row -> Data in
        row["link"]
      }
    }
    #expect(links == Self.texts.map { Data($0.utf8) })
  }

  @Test("when styles are written for QGIS, then each is well-formed, and each rule has its symbol")
  func styles() throws {
    for style in LayerStyle.ofFences + FigureStyle.all + LayerStyle.ofSpeedTests {
      #expect(XMLParser(data: Data(style.qml.utf8)).parse(), "\(style.table)")
      let used = style.qml.matches(of: /<rule [^>]*symbol="(\d+)"/).map { String($0.1) }
      let there = style.qml.matches(of: /<symbol [^>]*name="(\d+)"/).map { String($0.1) }
      #expect(used.isEmpty ? there == ["0"] : used == there, "\(style.table)")
    }
  }
}
