import Coverage
import GRDB

/// The result of salvaging a damaged store. The description is one line for an operator.
public struct Salvage: Hashable, Sendable, CustomStringConvertible {
  /// The damage, in SQLite's words.
  public let damage: String
  /// The path of the damaged file; empty when there was nothing in it.
  public internal(set) var setAside = ""
  /// Whether any of it could be read.
  var isReadable = false
  /// Drives in the new store.
  public internal(set) var drives = 0
  /// Sessions in the new store.
  public internal(set) var sessions = 0
  /// Fences in the new store.
  public internal(set) var fences = 0
  /// Readable rows that did not fit their checksums; they stay in the old file. The number of unreadable rows is
  /// unknown.
  public internal(set) var damagedRows = 0
  /// Whether the store is intact but lacks its latest writes.
  let isStoreOlder: Bool

  init(damage: String, isStoreOlder: Bool = false) { (self.damage, self.isStoreOlder) = (damage, isStoreOlder) }

  /// The result in one line.
  public var description: String {
    if isStoreOlder { return "\(damage): the latest writes are lost; reading drive logs to restore them" }
    if setAside.isEmpty { return "\(damage): a new store begins; drive logs stay, and can be replayed" }
    let saved =
      isReadable
      ? "\(counted(fences, "fence")) of \(counted(sessions, "session")) saved, \(counted(damagedRows, "damaged row")) left out"
      : "nothing in it can be read, and a new one begins"
    return "the store was damaged (\(damage)): \(saved); the old file is now \(setAside)"
  }
}

extension Salvage {
  /// Gives rows whose drive was lost a drive, so that they can be sent, and counts the rows of the new store. Fences
  /// without a session get one in the next cold pass.
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
    try count(new)
  }

  /// The same with the fewest steps, when rows contradict each other: none of these steps can fail because of them.
  mutating func completeRoughly(_ new: Database) throws {
    try new.execute(sql: "UPDATE fence SET batch_id = NULL WHERE batch_id NOT IN (SELECT id FROM batch)")
    try count(new)
  }

  private mutating func count(_ new: Database) throws {
    func count(_ table: String) throws -> Int { try Int.fetchOne(new, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    (drives, sessions, fences) = (try count("drive"), try count("session"), try count("fence"))
  }

  /// Keeps the id of a lost session from being used again: its remaining fences would join the new session.
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
