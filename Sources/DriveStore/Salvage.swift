import Coverage
import GRDB

/// What was saved from a damaged store. The description is one line for a person.
public struct Salvage: Hashable, Sendable, CustomStringConvertible {
  /// What was found, in SQLite's words.
  public let damage: String
  /// Where the damaged file is kept; empty when there was nothing in it.
  public internal(set) var setAside = ""
  /// Whether anything in it could be read.
  public internal(set) var isReadable = false
  public internal(set) var drives = 0
  public internal(set) var sessions = 0
  public internal(set) var fences = 0
  /// Rows that could be read and were not as they had been written: they stay in the old file. How many could not be read,
  /// nobody knows.
  public internal(set) var damagedRows = 0
  /// Whether the store is there, without what was written to it last.
  let isStoreOlder: Bool

  init(damage: String, isStoreOlder: Bool = false) { (self.damage, self.isStoreOlder) = (damage, isStoreOlder) }

  public var description: String {
    if isStoreOlder { return "\(damage): what was written last is lost; drive logs are read for it" }
    if setAside.isEmpty { return "\(damage): a new store begins; drive logs stay, and can be replayed" }
    let saved =
      isReadable
      ? "\(counted(fences, "fence")) of \(counted(sessions, "session")) saved, \(counted(damagedRows, "damaged row")) left out"
      : "nothing in it can be read, and a new one begins"
    return "the store was damaged (\(damage)): \(saved); the old file is kept as \(setAside)"
  }
}

/// Takes what is whole out of a damaged store, row by row, as far as SQLite finds the rows.
struct Rescue {
  /// So many row numbers without a row that can be read: there is nothing behind them.
  private static let failureLimit: Int64 = 10_000
  /// No store comes to so many rows. Behind the greatest number there is none for the next row: that would look like a full disk for ever.
  static let rowLimit: Int64 = 1 << 53

  private let old: Database
  private let new: Database
  /// `false` for a store from before there were checksums: then what can be read has to be believed.
  private let hasChecksums: Bool
  private(set) var result: Salvage

  /// - Parameter new: An empty store that does not enforce foreign keys.
  /// - Throws: `DatabaseError` when nothing of `old` can be read.
  init(from old: Database, to new: Database, _ result: Salvage) throws {
    self.old = old
    self.new = new
    self.result = result
    let mentions = try Int.fetchOne(
      old, sql: "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%\(RowChecksum.column)%'")
    hasChecksums = mentions != 0
    self.result.isReadable = true
  }

  /// - Throws: `DatabaseError` when the new store cannot be written.
  mutating func run() throws {
    for (table, columns) in RowChecksum.tables { try copy(table, columns) }
  }

  private mutating func copy(_ table: String, _ columns: [String]) throws {
    let present = columnsInOld(table)
    let shared = hasChecksums ? RowChecksum.columns(of: table, among: present) : columns.filter(present.contains)
    guard !shared.isEmpty, shared.allSatisfy(present.contains) else { return }
    let isIntact = hasChecksums ? RowChecksum.isIntact(table, by: shared) : "1"
    let select =
      "SELECT \(shared.joined(separator: ", ")), rowid AS number_of_row, \(isIntact) AS is_intact FROM \(table) NOT INDEXED"
    let insert = """
      INSERT OR IGNORE INTO \(table) (\(shared.joined(separator: ", ")))
      VALUES (\(shared.map { _ in "?" }.joined(separator: ", ")))
      """
    var position: Int64 = 0
    var taken: Set<Int64> = []
    func take(_ row: Row) throws {
      let number: Int64 = row["number_of_row"]
      position = max(position, min(number, Self.rowLimit) + 1)
      guard taken.insert(number).inserted else { return }
      guard row["is_intact"], number < Self.rowLimit else {
        result.damagedRows += 1
        return
      }
      try new.execute(
        sql: insert, arguments: StatementArguments(shared.map { row[$0] as DatabaseValue }))
    }
    // In the order of the pages first: that finds rows which lie in the wrong place.
    if try scan(select, [], take: take) { return }
    // Then behind each spot that cannot be read, to the next row that can.
    let end = min(highestRow(table) ?? .max, Self.rowLimit)
    var failures: Int64 = 0
    while position <= end, failures < Self.failureLimit {
      let before = position
      if try scan(select + " WHERE rowid >= ? ORDER BY rowid", [position], take: take) { return }
      failures = position == before ? failures + 1 : 0
      position += 1
    }
  }

  /// - Returns: Whether it came to the end.
  /// - Throws: What `take` throws; no error of the old store, which is full of them.
  private func scan(_ sql: String, _ arguments: StatementArguments, take: (Row) throws -> Void) throws -> Bool {
    let request = SQLRequest<Row>(sql: sql, arguments: arguments, cached: true)
    let rows: RowCursor
    do { rows = try Row.fetchCursor(old, request) } catch is DatabaseError { return false }
    var row: Row?
    repeat {
      do { row = try rows.next()?.copy() } catch is DatabaseError { return false }
      if let row { try take(row) }
    } while row != nil
    return true
  }

  private func columnsInOld(_ table: String) -> Set<String> {
    do { return Set(try old.columns(in: table).map(\.name)) } catch { return [] }
  }

  /// As far as either of the two places that know it can be read.
  private func highestRow(_ table: String) -> Int64? {
    let sources = [
      "SELECT seq FROM sqlite_sequence WHERE name = '\(table)'", "SELECT max(rowid) FROM \(table) NOT INDEXED",
    ]
    return sources.compactMap { sql in
      do { return try Int64.fetchOne(old, sql: sql) } catch { return nil }
    }.max()
  }
}

extension Salvage {
  /// Makes sendable what has lost the row that it belongs to, and counts what is in the new store. Fences without a session get one in
  /// the next cold pass.
  /// - Throws: `DatabaseError` when the new store cannot be written.
  mutating func complete(_ new: Database) throws {
    try DriveStore.doubtLostBatches(new)
    try new.execute(
      sql: """
        INSERT INTO drive (id, started_at, ended_at, stop_reason)
          SELECT drive_id, min(started_at), max(ifnull(finalized_at, started_at)), 'interrupted' FROM session
          WHERE drive_id NOT IN (SELECT id FROM drive) GROUP BY drive_id;
        INSERT INTO drive (id, started_at, ended_at, stop_reason)
          SELECT drive_id, min(entered_at), max(last_seen_at), 'interrupted' FROM fence
          WHERE drive_id NOT IN (SELECT id FROM drive) GROUP BY drive_id;
        """)
    try Self.reserveSessions(new)
    func count(_ table: String) throws -> Int { try Int.fetchOne(new, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    (drives, sessions, fences) = (try count("drive"), try count("session"), try count("fence"))
    if drives + sessions + fences > 0 { isReadable = true }
  }

  /// The same with as little as can be, when rows do not go together: nothing here can fail because of them.
  mutating func completeRoughly(_ new: Database) throws {
    try new.execute(sql: "UPDATE fence SET batch_id = NULL WHERE batch_id NOT IN (SELECT id FROM batch)")
    func count(_ table: String) throws -> Int { try Int.fetchOne(new, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    (drives, sessions, fences) = (try count("drive"), try count("session"), try count("fence"))
  }

  /// No later session gets the id of a lost one: fences that still name it would be its own.
  private static func reserveSessions(_ new: Database) throws {
    let last = try Int64.fetchOne(
      new,
      sql:
        "SELECT max(id) FROM (SELECT id FROM session UNION SELECT session_id FROM fence UNION SELECT session_id FROM batch)"
    )
    guard let last else { return }
    try new.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'session'")
    try new.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('session', ?)", arguments: [last])
  }
}
