import Coverage
import GRDB
import OrderedJSON
import Store

/// What an export has of a store and what it leaves out, so that exports which follow each other can be joined, and fences that a device
/// withdrew are noticed (docs/export.md).
public struct ExportStatement: Hashable, Sendable {
  private let identity: StoreIdentity
  private let exported: WallTime
  private let from: WallTime?
  private let to: WallTime?
  private let state: String
  private let isFiltered: Bool

  /// - Parameters:
  ///   - state: The states of its fences, as `export --state` has them.
  ///   - isOfSessions: Whether it has some sessions only.
  public init(
    _ identity: StoreIdentity, exported: WallTime, state: String, filter: FenceFilter, isOfSessions: Bool
  ) {
    (self.identity, self.exported, self.state) = (identity, exported, state)
    (from, to) = (filter.from, filter.to)
    var rest = filter
    (rest.from, rest.to) = (nil, nil)
    isFiltered = isOfSessions || rest != FenceFilter()
  }

  /// Its columns in a table, with what they mean and its values.
  private var columns: [(field: GeoPackageField, value: String?)] {
    [
      (.init(name: "store_id", type: "TEXT", meaning: "identity of the store (UUID)"), identity.uuid),
      (.init(name: "exported_at", type: "DATETIME", meaning: "when it was exported"), exported.iso8601),
      (
        .init(name: "last_fence", type: "INTEGER", meaning: "greatest number that the store has given a fence"),
        "\(identity.lastFence)"
      ),
      (.init(name: "from_time", type: "DATETIME", meaning: "`--from`: fences that began then or later"), from?.iso8601),
      (.init(name: "to_time", type: "DATETIME", meaning: "`--to`: fences that began before"), to?.iso8601),
      (.init(name: "state", type: "TEXT", meaning: "`--state`"), state),
      (
        .init(
          name: "filtered", type: "BOOLEAN",
          meaning: "whether `--session`, `--bbox`, `--technology` or `--link` was given"),
        isFiltered ? "1" : "0"
      ),
    ]
  }

  /// Adds the table `export`, of one row, to a GeoPackage.
  func add(to database: Database) throws {
    let list = columns.map { "\($0.field.name) \($0.field.type)" }.joined(separator: ", ")
    try database.execute(
      sql: """
        CREATE TABLE export (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, \(list));
        INSERT INTO gpkg_contents (table_name, data_type, identifier, description)
          VALUES ('export', 'attributes', 'export', 'what this export has of the store');
        """)
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    try database.execute(
      sql: "INSERT INTO export (\(columns.map(\.field.name).joined(separator: ", "))) VALUES (\(marks))",
      arguments: StatementArguments(columns.map(\.value)))
    for (field, _) in columns {
      try database.execute(
        sql: "INSERT INTO gpkg_data_columns (table_name, column_name, description) VALUES ('export', ?, ?)",
        arguments: [field.name, field.meaning])
    }
  }
}
