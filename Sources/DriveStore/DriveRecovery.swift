import GRDB

/// What a process that was killed, or lost its power, left behind.
extension DriveStore {
  /// Ends all unfinished drives, their sessions and their open fences at the last moment that is known of them.
  ///
  /// To be called before this process records a drive of its own: then every unfinished one belongs to a process that is gone.
  /// - Throws: GRDB's `DatabaseError`
  public func endInterruptedDrives() async throws {
    try await database.write { db in
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
    }
  }
}
