import Coverage
import Foundation
import GRDB
import OrderedJSON
import TestSupport
import Testing

@testable import Export

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Random fences in all formats: an independent reader, or a plain one by the standard, reads back the same values.
struct FormatAgreementTests {
  /// A fence with random values, some absent, and with texts that formats must escape.
  private static func record(_ id: Int64, _ random: inout SeededGenerator) -> FenceRecord {
    let texts = [
      "A", "a,b", "\"q\"", "<x> & y", "line\nend", "tab\there", "Ö–\u{1F697}", " edge ", "]]>", "=1+1", "\\",
    ]
    func any<Value>(_ values: [Value?]) -> Value? { values.randomElement(using: &random) ?? nil }
    let (latitude, longitude) = (
      Double.random(in: -89...89, using: &random), Double.random(in: -179...179, using: &random)
    )
    var figures = PingFigures()
    (figures.late, figures.duplicates) = (Int.random(in: 0...3, using: &random), Int.random(in: 0...3, using: &random))
    if Bool.random(using: &random) {
      let median = Int64.random(in: 1...900_000_000, using: &random)
      figures.roundTrip = .init(minimum: median / 2, median: median, percentile95: median * 2, maximum: median * 3)
    }
    figures.meanVariation = any([nil, Int64.random(in: 0...9_000_000, using: &random)])
    var radio: FenceRadio? = Bool.random(using: &random) ? .sample : nil
    radio?.operatorName = any(texts + [nil])
    radio?.cell?.identity = any([nil, 0, .max, 68_719_476_735])
    let pings = Int.random(in: 0...400, using: &random)
    let answered = pings == 0 ? 0 : Int.random(in: 0...pings, using: &random)
    let fix = Fix(
      coordinate: Coordinate(latitude: latitude, longitude: longitude), accuracy: any([nil, 3.25, 14.999]),
      altitude: any([nil, -12.345, 8848]), course: any([nil, 0, 359.95]), speed: any([nil, 0, 55.55]))
    return FenceRecord(
      id: id,
      fence: .sample(
        number: Int(id), entered: Double.random(in: 0...9e5, using: &random),
        lasted: any([4, 0.001, nil]), latitude: latitude, longitude: longitude, fix: fix,
        radius: Double.random(in: 1...500, using: &random), technology: any(["4G/LTE", "5G/NR", "2G/EDGE", nil]),
        pings: pings, answered: answered, rttSumNanoseconds: Int64(answered) * 31_234_567, figures: figures,
        radio: radio),
      session: Session(number: 0, testUUID: any(["T1", nil]), started: .start, anchor: any([nil, .seconds(16)])),
      origin: .store(driveStarted: .sampleStart, session: 3), link: any(texts + [nil]),
      submitted: any([nil, .sampleStart.later(by: .seconds(9))]))
  }

  private static func records(_ seed: UInt64) -> [FenceRecord] {
    var random = SeededGenerator(seed: seed)
    return (1...25).map { record($0, &random) }
  }

  /// The fields that a format must have: the known values of `columns`.
  private func expected(_ record: FenceRecord, _ columns: [Export.Column<FenceRecord>]) -> [String: JSON] {
    Dictionary(uniqueKeysWithValues: columns.compactMap { column in column.value(record).map { (column.name, $0) } })
  }

  /// Whether a text from a format equals a value. Numbers compare by value: a format may write 12 as 12.0.
  private func isSame(_ text: String, _ value: JSON) -> Bool {
    switch value {
    case .integer, .number, .decimal: Double(text) == Double(value.text)
    case .bool(let isTrue): ["true", "1"].contains(text) == isTrue && ["true", "false", "1", "0"].contains(text)
    default: text == value.plainText
    }
  }

  private func compare(
    _ found: [[String: String]], _ records: [FenceRecord], _ columns: [Export.Column<FenceRecord>],
    _ format: ExportFormat
  ) {
    #expect(found.count == records.count, "\(format)")
    for (fields, record) in zip(found, records) {
      let expected = expected(record, columns)
      #expect(Set(fields.keys) == Set(expected.keys), "\(format), fence \(record.id)")
      for (name, value) in expected {
        #expect(
          isSame(format == .csv ? (fields[name] ?? "").withoutMark : fields[name] ?? "", value),
          "\(format), fence \(record.id), \(name): \(fields[name] ?? "") is not \(value.plainText)")
      }
    }
  }

  // MARK: Text

  /// The records of a CSV table (RFC 4180, section 2).
  private func table(_ text: String) -> [[String]] {
    var (rows, row, field, isQuoted): ([[String]], [String], String, Bool) = ([], [], "", false)
    var rest = Array(text.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"" where isQuoted && rest.first == "\"":
        field += "\""
        rest.removeFirst()
      case "\"": isQuoted.toggle()
      case "," where !isQuoted:
        row.append(field)
        field = ""
      case "\r" where !isQuoted && rest.first == "\n":
        rest.removeFirst()
        rows.append(row + [field])
        (row, field) = ([], "")
      default: field.unicodeScalars.append(scalar)
      }
    }
    return rows
  }

  @Test(
    "when random fences are exported as CSV, then each field is the value of its column",
    arguments: 0..<5 as Range<UInt64>)
  func csv(seed: UInt64) throws {
    let records = Self.records(seed)
    let rows = table(try ExportFormat.csv.text(records))
    let names = try #require(rows.first)
    let found = rows.dropFirst().map { row in
      Dictionary(zip(names, row).filter { !$1.isEmpty }) { first, _ in first }
    }
    compare(Array(found), records, ColumnList.storedTable, .csv)
  }

  /// The members of an object of JSON as texts.
  private func texts(_ object: Any?) throws -> [String: String] {
    try #require(object as? [String: Any]).mapValues { value in
      switch value {
      case let text as String: text
      case let number as NSNumber: number.stringValue
      default: "object"
      }
    }
  }

  /// Without objects, whose members have no order in Foundation; ``ColumnListTests`` tests them.
  private func plain(_ columns: [Export.Column<FenceRecord>]) -> [Export.Column<FenceRecord>] {
    columns.filter { $0.kind != .object }
  }

  @Test(
    "when random fences are exported as JSON Lines or GeoJSON, then each member is the value of its column",
    arguments: 0..<5 as Range<UInt64>)
  func json(seed: UInt64) throws {
    let records = Self.records(seed)
    let lines = try ExportFormat.jsonl.text(records).split(separator: "\n").map { line in
      try texts(JSONSerialization.jsonObject(with: Data(line.utf8))).filter { $0.value != "object" }
    }
    compare(lines, records, plain(ColumnList.line), .jsonl)
    let whole = try JSONSerialization.jsonObject(with: Data(try ExportFormat.geojson.text(records).utf8))
    let features = try #require((whole as? [String: Any])?["features"] as? [[String: Any]])
    compare(
      try features.map { try texts($0["properties"]).filter { $0.value != "object" } }, records,
      plain(ColumnList.properties), .geojson)
    for (feature, record) in zip(features, records) {
      let place = try #require((feature["geometry"] as? [String: Any])?["coordinates"] as? [Double])
      #expect(
        abs(place[0] - record.fence.centre.longitude) < 1e-7 && abs(place[1] - record.fence.centre.latitude) < 1e-7)
    }
  }

  // MARK: XML

  /// Collects the fields of each fence in GPX or KML.
  private final class Fields: NSObject, XMLParserDelegate {
    private(set) var records: [[String: String]] = []
    private let begin: String
    private var (name, text): (String?, String) = (nil, "")

    init(begin: String) { self.begin = begin }

    func parser(
      _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String] = [:]
    ) {
      if element == begin { records.append([:]) }
      name =
        element == "SimpleData" ? attributes["name"] : element.hasPrefix("cp:") ? String(element.dropFirst(3)) : nil
      text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters piece: String) { text += piece }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
      if let name, !records.isEmpty { records[records.count - 1][name] = text }
      name = nil
    }
  }

  @Test(
    "when random fences are exported as GPX or KML, then a parser reads the value of each column",
    arguments: 0..<5 as Range<UInt64>)
  func xml(seed: UInt64) throws {
    let records = Self.records(seed)
    for (format, begin) in [(ExportFormat.gpx, "wpt"), (.kml, "Placemark")] {
      let fields = Fields(begin: begin)
      let parser = XMLParser(data: Data(try format.text(records).utf8))
      parser.delegate = fields
      #expect(parser.parse(), "\(format): \(parser.parserError.map { "\($0)" } ?? "")")
      compare(fields.records, records, ColumnList.storedFields, format)
    }
  }

  // MARK: GeoPackage

  @Test(
    "when random fences are exported as a GeoPackage, then SQLite reads the value of each column",
    arguments: 0..<3 as Range<UInt64>)
  func geoPackage(seed: UInt64) throws {
    let (records, folder) = (Self.records(seed), try TemporaryFolder())
    let path = folder.file("drive.gpkg")
    try Data(ExportFormat.gpkg.bytes(records)).write(to: URL(fileURLWithPath: path))
    for table in ["fences", "fence_centres"] {
      let rows = try DatabaseQueue(path: path).read { try Row.fetchAll($0, sql: "SELECT * FROM \(table) ORDER BY fid") }
      let found = rows.map { row in
        Dictionary(
          uniqueKeysWithValues: row.filter { !["fid", "geom"].contains($0.0) }.compactMap { name, value in
            switch value.storage {
            case .string(let text): (name, text)
            case .int64(let number): (name, "\(number)")
            case .double(let number): (name, "\(number)")
            case .blob: (name, "blob")
            case .null: nil
            }
          })
      }
      compare(found, records, ColumnList.storedProperties, .gpkg)
    }
  }

  @Test("when values differ, then the comparison of this suite detects it")
  func control() {
    #expect(isSame("12.0", .integer(12)) && !isSame("12.1", .integer(12)) && !isSame("", .integer(0)))
    #expect(isSame("1", .bool(true)) && !isSame("0", .bool(true)) && !isSame("yes", .bool(false)))
    #expect(!isSame("a ", .string("a")))
    #expect(table("a,b\r\n\"1,\"\"2\",\r\n") == [["a", "b"], ["1,\"2", ""]])
  }
}
