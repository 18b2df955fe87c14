import GRDB

/// Deletes fences, and then sessions and batches without fences. The steps run inside a transaction of the caller.
enum FenceDeletion {
  /// The condition that a fence belongs to no unfinished session, and to no drive from `:running` on.
  static let isAtRest =
    "drive_id < :running AND session_id NOT IN (SELECT id FROM session WHERE finalized_at IS NULL)"

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
