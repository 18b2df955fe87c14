import GRDB

/// Takes out of a damaged file the rows that SQLite does not find, because what leads to them is damaged: the first page, the
/// definitions, a table's root. What a row is of is told by how many columns it has, and by its checksum, which no other row fits.
struct PageRescue {
  private struct Table {
    let name: String
    /// As they lie in the file.
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
      for record in PageRecord.all(in: page) where record.row < Rescue.rowLimit { try take(record) }
    }
  }

  private func take(_ record: PageRecord) throws {
    for table in tables where table.columns.count == record.values.count {
      // The column that numbers the rows is not in them.
      let values = zip(table.columns, record.values).map { $0 == "id" ? record.row.databaseValue : $1 }
      let row = Dictionary(zip(table.columns, values)) { $1 }
      guard RowChecksum.fits(row, of: table.name) else { continue }
      // A fence that is there twice is a sent one if either is.
      let isSent = table.name == "fence" && row["submitted_at"] != .null
      try new.execute(
        sql: "INSERT OR \(isSent ? "REPLACE" : "IGNORE") \(table.insertion)", arguments: StatementArguments(values))
    }
  }
}
