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

extension Salvage {
  /// Makes sendable what has lost the row that it belongs to, and counts what is in the new store. Fences without a session get one in
  /// the next cold pass.
  /// - Throws: `DatabaseError` when the new store cannot be written.
  mutating func complete(_ new: Database) throws {
    try LostBatches.doubtMissing(new)
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
