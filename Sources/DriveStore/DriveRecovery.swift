import Coverage
import GRDB

/// What a process that was killed, or lost its power, left behind.
extension DriveStore {
  /// Ends all unfinished drives, their sessions and their open fences at the last moment that is known of them.
  ///
  /// To be called before this process records a drive of its own: then every unfinished one belongs to a process that is gone.
  /// - Parameter now: The wall clock.
  /// - Returns: By link, the loop of a drive that was interrupted within the last hour: the next one continues it.
  /// - Throws: GRDB's `DatabaseError`
  @discardableResult
  public func endInterruptedDrives(now: WallTime) async throws -> [String?: String] {
    try await database.write { db in
      let loops = try Row.fetchAll(
        db,
        sql: """
          SELECT drive.link, session.loop_uuid FROM session JOIN drive ON drive.id = drive_id
          WHERE drive.ended_at IS NULL AND session.loop_uuid IS NOT NULL AND
            (SELECT max(last_seen_at) FROM fence WHERE fence.drive_id = drive.id) > ?
          ORDER BY session.id
          """, arguments: [now.microseconds - 3_600_000_000])
      try db.execute(
        sql: """
          UPDATE fence SET exited_at = last_seen_at WHERE exited_at IS NULL;

          UPDATE session SET finalized_at =
              max(started_at, coalesce((SELECT max(exited_at) FROM fence WHERE session_id = session.id), started_at))
            WHERE finalized_at IS NULL;

          UPDATE drive SET stop_reason = 'interrupted', ended_at =
              max(started_at, coalesce((SELECT max(finalized_at) FROM session WHERE drive_id = drive.id), started_at))
            WHERE ended_at IS NULL;
          """)
      return Dictionary(loops.map { ($0["link"] as String?, $0["loop_uuid"]) }) { $1 }
    }
  }
}
