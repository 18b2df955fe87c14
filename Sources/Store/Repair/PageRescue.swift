import GRDB

/// Extracts rows that SQLite does not find in a damaged file because the path to them is damaged: the first page, the
/// definitions, the root of a table. The number of columns and the checksum, which fits no other row, identify the
/// table of a row.
struct PageRescue {
  /// A table of the new store, and the form of its rows in the old file.
  private struct Table {
    let name: String
    /// In the order of the file.
    let columns: [String]
    let insertion: String
  }

  private let new: Database
  private let tables: [Table]

  /// - Throws: `DatabaseError`
  init(to new: Database) throws {
    self.new = new
    tables = try RowChecksum.tables.map { name, _ in
      let columns = try new.columns(in: name).map(\.name)
      let places = columns.map { _ in "?" }.joined(separator: ", ")
      return Table(
        name: name, columns: columns, insertion: "INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(places))")
    }
  }

  /// - Throws: `DatabaseError` when the new store cannot be written.
  func run(_ pages: StorePages) throws {
    try pages.forEach { page in
      for record in PageRecord.all(in: page) where record.row < Rescue.rowLimit { try save(record) }
    }
  }

  private func save(_ record: PageRecord) throws {
    for table in tables where table.columns.count == record.values.count {
      // The id column is not stored in the record.
      let values = zip(table.columns, record.values).map { $0 == "id" ? record.row.databaseValue : $1 }
      let row = Dictionary(zip(table.columns, values)) { $1 }
      guard RowChecksum.fits(row, of: table.name) else { continue }
      // If a fence exists twice and one copy is sent, it was sent.
      let isSent = table.name == "fence" && row["submitted_at"] != .null
      try new.execute(
        sql: "INSERT OR \(isSent ? "REPLACE" : "IGNORE") \(table.insertion)", arguments: StatementArguments(values))
    }
  }
}
