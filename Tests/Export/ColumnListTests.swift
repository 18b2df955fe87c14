import Coverage
import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import Export

/// The table of columns. `WRITE_DOCS=1 swift test --filter ColumnListTests` writes it to docs/export.md.
struct ColumnListTests {
  private static let begin =
    "<!-- columns: from Sources/Export/Columns, by WRITE_DOCS=1 swift test --filter ColumnListTests -->\n"
  private static let end = "\n<!-- end of columns -->"
  private static let page = Surroundings.root.appending(path: "docs/export.md")

  @Test("when a column is declared, then the table of docs/export.md has it as declared")
  func documented() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let begin = try #require(text.range(of: Self.begin))
    let end = try #require(text.range(of: Self.end))
    if ProcessInfo.processInfo.environment["WRITE_DOCS"] != nil {
      let written = text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: ColumnTable.markdown)
      try written.write(to: Self.page, atomically: true, encoding: .utf8)
    } else {
      #expect(
        text[begin.upperBound..<end.lowerBound] == ColumnTable.markdown,
        "write it again: WRITE_DOCS=1 swift test --filter ColumnListTests")
    }
  }

  @Test("when columns are declared, then no two share a name, and every format can write the names")
  func names() {
    let names = ColumnList.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { $0.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil })
    #expect(ColumnList.all.allSatisfy { !$0.meaning.contains("|") && !$0.meaning.isEmpty })
  }

  @Test("when a fence has every value, then each column of the store has one, of its kind")
  func kinds() throws {
    let record = FenceRecord.whole()
    for column in ColumnList.storedTable {
      let value = try #require(column.value(record), "\(column.name)")
      switch (column.kind, value) {
      case (.integer, .integer(let number)): #expect(Int32(exactly: number) != nil, "\(column.name)")
      case (.long, .integer), (.decimal, .decimal), (.decimal, .number), (.text, .string), (.boolean, .bool),
        (.object, .object):
        break
      case (.time, .string(let text)): #expect(WallTime(iso8601: text) != nil, "\(column.name)")
      default: Issue.record("\(column.name) is declared as \(column.kind.rawValue), its value is \(value)")
      }
    }
  }

  @Test("when a fence has few values, then only their columns have a value")
  func bare() {
    let known = ColumnList.all.filter { $0.value(.bare()) != nil }.map(\.name)
    #expect(
      known == [
        "id", "session", "drive", "quarantined", "entered_at", "exited_at", "latitude", "longitude", "radius_m",
        "pings", "pings_ok",
        "technology", "technology_id", "duration_ms", "submittable", "pings_lost", "pings_late", "pings_unsent",
        "pings_duplicate",
      ])
  }

  @Test("when a fence is replayed, then it has seconds instead of times, and no value from a store")
  func replay() {
    let record = FenceRecord(
      fence: .sample(entered: 10, lasted: 4), session: Session(number: 0, started: .start), origin: .replay)
    let values = Dictionary(uniqueKeysWithValues: ColumnList.all.map { ($0.name, $0.value(record)?.text) })
    #expect(values["entered"] == "10.0" && values["exited"] == "14.0")
    for column in ColumnList.all where column.source == .store { #expect(values[column.name] == .some(nil)) }
  }

  @Test("when a fence was submitted, then its row has the time; the JSON formats never have it")
  func submitted() throws {
    let text = try ExportFormat.gpx.text([.whole()])
    #expect(text.contains("<cp:submitted_at>2026-11-20T11:00:00.000Z<"), "\(text)")
    #expect(try !ExportFormat.gpx.text([.whole(submitted: nil)]).contains("submitted_at"))
    for format in [ExportFormat.jsonl, .geojson] {
      #expect(try !format.text([.whole()]).contains("submitted_at"), "a line has the keys of a replayed fence")
    }
  }

  @Test("when a fence is stored, then its line has the keys of a replayed fence, with number, session and wall times")
  func sameKeys() throws {
    func keys(_ record: FenceRecord) -> Set<String> {
      Set(ColumnList.line.filter { $0.value(record) != nil }.map(\.name))
    }
    let stored = FenceRecord.whole()
    var replayed = FenceRecord(
      fence: stored.fence, session: stored.session, origin: .replay, link: stored.link)
    replayed.distance = stored.distance
    #expect(
      keys(stored).subtracting(keys(replayed)) == [
        "id", "session", "drive", "store_id", "clock", "quarantined", "target", "entered_at", "exited_at",
      ])
    #expect(keys(replayed).subtracting(keys(stored)) == ["entered", "exited"])
  }
}

/// The table of columns in docs/export.md.
private enum ColumnTable {
  /// The table as Markdown, without a line end behind it.
  static var markdown: String {
    let head = ["| column | values | meaning | GeoPackage | KML |", "|---|---|---|---|---|"]
    let rows = ColumnList.all.map { column in
      let isStored = column.source != .replay
      let cells = [
        "`\(column.name)`", column.kind.rawValue, column.meaning + note(column),
        isStored ? geoPackage(column) : "", isStored ? kml(column) : "",
      ]
      return "| " + cells.joined(separator: " | ") + " |"
    }
    return (head + rows).joined(separator: "\n")
  }

  /// Where the column is absent.
  private static func note(_ column: Column<FenceRecord>) -> String {
    switch column.source {
    case .replay: " (only in replays)"
    case .store where column.role == .record: " (not in JSON)"
    case .store where column.role == .identity: " (in GeoJSON the id of the feature, not in replays)"
    case .store: " (not in replays)"
    case .both: ""
    }
  }

  /// The type in a GeoPackage (OGC 12-128r17, table 1), or the part of the feature that has the value.
  private static func geoPackage(_ column: Column<FenceRecord>) -> String {
    switch column.role {
    case .identity: "`fid`"
    case .position: "geometry"
    case .property, .record, .list: column.field.type
    }
  }

  /// The type in KML's `SimpleField`, or the part of the placemark that has the value.
  private static func kml(_ column: Column<FenceRecord>) -> String {
    column.role == .position ? "geometry" : KML.type(of: column.kind)
  }
}
