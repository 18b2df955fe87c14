import GRDB

/// Extracts intact rows from a damaged store, as far as SQLite finds them.
struct Rescue {
  /// After this many consecutive row numbers without a readable row, the rest of the table counts as empty.
  private static let failureLimit: Int64 = 10_000
  /// No store has this many rows. After a row with the greatest possible number there would be no number for the next
  /// row, and each insert would fail as on a full disk.
  private static let rowLimit: Int64 = 1 << 53

  private let old: Database
  private let new: Database
  private(set) var result: Salvage

  /// - Parameters:
  ///   - old: The damaged store.
  ///   - new: An empty store that does not enforce foreign keys.
  ///   - result: Receives the counts.
  /// - Throws: `DatabaseError` when nothing of `old` can be read.
  init(from old: Database, to new: Database, _ result: Salvage) throws {
    self.old = old
    self.new = new
    self.result = result
    _ = try Int.fetchOne(old, sql: "SELECT count(*) FROM sqlite_master")
    self.result.isReadable = true
  }

  /// - Throws: `DatabaseError` when the new store cannot be written.
  mutating func run() throws {
    // The ids stay, so the identity stays too.
    try new.execute(sql: "DELETE FROM identity")
    for (table, columns) in RowChecksum.tables { try copy(table, columns) }
  }

  private mutating func copy(_ table: String, _ columns: [String]) throws {
    guard columnsInOld(table).isSuperset(of: columns) else { return }
    let names = columns.joined(separator: ", ")
    let select =
      "SELECT \(names), rowid AS number_of_row, \(RowChecksum.isIntact(table)) AS is_intact FROM \(table) NOT INDEXED"
    let insert =
      "INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
    var position: Int64 = 0
    var saved: Set<Int64> = []
    func save(_ row: Row) throws {
      let number: Int64 = row["number_of_row"]
      position = max(position, min(number, Self.rowLimit) + 1)
      guard saved.insert(number).inserted else { return }
      guard row["is_intact"], number < Self.rowLimit else {
        result.damagedRows += 1
        return
      }
      try new.execute(
        sql: insert, arguments: StatementArguments(columns.map { row[$0] as DatabaseValue }))
    }
    // First in the order of the pages: this finds rows in wrong places.
    if try scan(select, [], save: save) { return }
    // Then from each unreadable place to the next readable row.
    let end = min(highestRow(table) ?? .max, Self.rowLimit)
    var failures: Int64 = 0
    while position <= end, failures < Self.failureLimit {
      let before = position
      if try scan(select + " WHERE rowid >= ? ORDER BY rowid", [position], save: save) { return }
      failures = position == before ? failures + 1 : 0
      position += 1
    }
  }

  /// - Returns: Whether the scan reached the end.
  /// - Throws: Errors of `save`; errors of the old store only end the scan.
  private func scan(_ sql: String, _ arguments: StatementArguments, save: (Row) throws -> Void) throws -> Bool {
    let request = SQLRequest<Row>(sql: sql, arguments: arguments, cached: true)
    let rows: RowCursor
    do { rows = try Row.fetchCursor(old, request) } catch is DatabaseError { return false }
    var row: Row?
    repeat {
      do { row = try rows.next()?.copy() } catch is DatabaseError { return false }
      if let row { try save(row) }
    } while row != nil
    return true
  }

  private func columnsInOld(_ table: String) -> Set<String> {
    do { return Set(try old.columns(in: table).map(\.name)) } catch { return [] }
  }

  /// The greatest row number, from the one of two places that can be read.
  private func highestRow(_ table: String) -> Int64? {
    let sources = [
      "SELECT seq FROM sqlite_sequence WHERE name = '\(table)'", "SELECT max(rowid) FROM \(table) NOT INDEXED",
    ]
    return sources.compactMap { sql in
      do { return try Int64.fetchOne(old, sql: sql) } catch { return nil }
    }.max()
  }
}
