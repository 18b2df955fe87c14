import GRDB

/// How long data stays in the store.
public struct Retention: Hashable, Sendable {
  /// Unsent fences older than this are deleted, if two clocks agree on the time.
  public var maxAge: Duration
  /// How long sent, refused and Wi-Fi fences and drive logs stay.
  public var keep: Duration

  /// By default 7 and 30 days.
  public init(maxAge: Duration = .seconds(7 * 86_400), keep: Duration = .seconds(30 * 86_400)) {
    self.maxAge = maxAge
    self.keep = keep
  }
}

/// Deletes fences, and then sessions and batches without fences. The steps run inside a transaction of the caller.
enum FenceDeletion {
  /// The condition that a fence belongs to no unfinished session, and to no drive from `:running` on.
  static let isAtRest =
    "drive_id < :running AND session_id NOT IN (SELECT id FROM session WHERE finalized_at IS NULL)"

  /// Deletes fences. A batch that the server has, and that loses some of them, gets the number 0 of sent fences: nothing tells any more which
  /// fences of its test the server has.
  /// - Parameter condition: A condition for the fences to delete.
  /// - Returns: Their number.
  static func delete(where condition: String, _ arguments: StatementArguments, _ db: Database) throws -> Int {
    let batches = try Int64?.fetchAll(
      db, sql: "DELETE FROM fence WHERE \(condition) RETURNING batch_id", arguments: arguments)
    for batch in Set(batches).compactMap(\.self) {
      try db.execute(
        sql:
          "UPDATE batch SET sent_fences = 0 WHERE id IN (SELECT id FROM intact_batch WHERE id = ? AND state = 'submitted')",
        arguments: [batch])
    }
    return batches.count
  }

  /// - Parameter rows: A table, with a condition for the rows to delete.
  /// - Returns: The number of deleted rows.
  static func delete(_ rows: String, _ arguments: StatementArguments, _ db: Database) throws -> Int {
    try db.execute(sql: "DELETE FROM " + rows, arguments: arguments)
    return db.changesCount
  }

  /// - Returns: The number of deleted sessions.
  static func deleteEmpty(_ arguments: StatementArguments, _ db: Database) throws -> Int {
    _ = try delete(
      "batch WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM fence WHERE batch_id = batch.id)", arguments, db)
    return try delete(
      """
      session WHERE drive_id < :running AND (finalized_at IS NOT NULL OR started_at < :expired)
        AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id)
      """, arguments, db)
  }
}

/// The counts of a clean-up.
public struct Deleted: Hashable, Sendable {
  /// Fences that were too old to be sent.
  public internal(set) var expired = 0
  /// Fences that the server has, and that were stored long enough.
  public internal(set) var sentLongAgo = 0
  /// Sessions without fences.
  public internal(set) var sessions = 0
  public internal(set) var speedTests = 0
  /// Drive logs, including those that a damaged store no longer names.
  public internal(set) var driveLogs = 0
  /// Damaged stores that were set aside.
  public internal(set) var damagedStores = 0
  /// Fences that are too old by the selected clock; they stay until another clock confirms it.
  public internal(set) var doubted = 0

  /// Whether nothing was deleted.
  public var isNothing: Bool { expired + sentLongAgo + sessions + speedTests + driveLogs + damagedStores == 0 }
}
