/// The table of columns in docs/export.md. A test compares it with the page, so that the page cannot fall behind
/// ``ColumnList``.
enum ColumnTable {
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
  private static func note(_ column: Column) -> String {
    switch column.source {
    case .replay: " (only in replays)"
    case .store where column.role == .record: " (not in JSON)"
    case .store where column.role == .identity: " (in GeoJSON the id of the feature, not in JSON Lines)"
    case .store: " (not in replays)"
    case .both: ""
    }
  }

  /// The type in a GeoPackage (OGC 12-128r17, table 1), or the part of the feature that has the value.
  private static func geoPackage(_ column: Column) -> String {
    switch column.role {
    case .identity: "`fid`"
    case .position: "geometry"
    case .property, .record: column.field.type
    }
  }

  /// The type in KML's `SimpleField`, or the part of the placemark that has the value.
  private static func kml(_ column: Column) -> String {
    column.role == .position ? "geometry" : KML.type(of: column.kind)
  }
}
