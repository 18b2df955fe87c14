import GRDB

/// Deletes fences, and the sessions and batches that are empty then. Steps inside a transaction of their caller.
enum FenceDeletion {
  /// A fence that no unfinished session and no running drive has.
  static var isAtRest: String {
    "drive_id < ifnull(:running, 1 << 62) AND session_id NOT IN (SELECT id FROM session WHERE finalized_at IS NULL) AND \(RowChecksum.isIntact("fence"))"
  }

  /// - Parameter rows: A table, with the condition of the rows that go.
  /// - Returns: How many rows went.
  static func delete(_ rows: String, _ arguments: StatementArguments, _ db: Database) throws -> Int {
    try db.execute(sql: "DELETE FROM " + rows, arguments: arguments)
    return db.changesCount
  }

  /// - Returns: How many sessions went.
  static func deleteEmpty(_ arguments: StatementArguments, _ db: Database) throws -> Int {
    _ = try delete(
      "batch WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM fence WHERE batch_id = batch.id)", arguments, db)
    return try delete(
      """
      session WHERE drive_id < ifnull(:running, 1 << 62) AND (finalized_at IS NOT NULL OR started_at < :expired)
        AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id)
      """, arguments, db)
  }
}
