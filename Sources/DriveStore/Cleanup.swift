import Coverage
import GRDB

/// How long things stay in the store.
public struct Retention: Hashable, Sendable {
  /// What was not sent by then is not sent any more.
  public var maxAge: Duration
  /// What the server has, what it refused, and what Wi-Fi touched stays for so long.
  public var keep: Duration

  public init(maxAge: Duration = .seconds(7 * 86_400), keep: Duration = .seconds(30 * 86_400)) {
    self.maxAge = maxAge
    self.keep = keep
  }
}

/// What a clean-up has deleted.
public struct Deleted: Hashable, Sendable {
  /// Fences that were too old to be sent.
  public internal(set) var expired = 0
  /// Fences that had been kept long enough.
  public internal(set) var kept = 0
  public internal(set) var sessions = 0

  public var isNothing: Bool { expired + kept + sessions == 0 }
}

extension DriveStore {
  /// Deletes what is too old, and sessions without fences. Never a fence of an unfinished session, nothing of the running
  /// drives, and no damaged fence: whose age is unknown, and a person may make something of it.
  /// - Parameter running: The first of them.
  /// - Throws: GRDB's `DatabaseError`
  public func cleanUp(_ retention: Retention, now: WallTime, except running: Int64?) async throws -> Deleted {
    try await keep { db in
      let arguments: StatementArguments = [
        "expired": now.microseconds - retention.maxAge.inMicroseconds,
        "kept": now.microseconds - retention.keep.inMicroseconds, "running": running,
      ]
      var deleted = Deleted()
      deleted.expired = try Self.delete(
        """
        fence WHERE \(Self.isAtRest) AND submittable AND submitted_at IS NULL AND NOT \(Self.isQuarantined)
          AND last_seen_at < :expired
        """, arguments, db)
      deleted.kept = try Self.delete(
        """
        fence WHERE \(Self.isAtRest) AND (submitted_at < :kept OR last_seen_at < :kept
          AND submitted_at IS NULL AND (NOT submittable OR \(Self.isQuarantined)))
        """, arguments, db)
      _ = try Self.delete(
        "batch WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM fence WHERE batch_id = batch.id)", arguments, db)
      deleted.sessions = try Self.delete(
        """
        session WHERE drive_id < ifnull(:running, 1 << 62) AND (finalized_at IS NOT NULL OR started_at < :expired)
          AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id)
        """, arguments, db)
      _ = try Self.delete(
        """
        drive WHERE id < ifnull(:running, 1 << 62) AND ended_at IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM session WHERE drive_id = drive.id)
          AND NOT EXISTS (SELECT 1 FROM fence WHERE drive_id = drive.id)
        """, arguments, db)
      return deleted
    }
  }

  /// A fence that no unfinished session and no running drive has.
  private static var isAtRest: String {
    "drive_id < ifnull(:running, 1 << 62) AND session_id NOT IN (SELECT id FROM session WHERE finalized_at IS NULL) AND \(RowChecksum.isIntact("fence"))"
  }

  private static var isQuarantined: String {
    "EXISTS (SELECT 1 FROM batch WHERE batch.id = batch_id AND state = 'quarantined')"
  }

  /// - Returns: How many rows went.
  private static func delete(_ what: String, _ arguments: StatementArguments, _ db: Database) throws -> Int {
    try db.execute(sql: "DELETE FROM " + what, arguments: arguments)
    return db.changesCount
  }
}
