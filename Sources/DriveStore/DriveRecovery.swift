import GRDB

/// What a process that was killed, or lost its power, left behind. Only the holder of the writer's lock may mend it: then
/// every unfinished drive belongs to a process that is gone.
enum DriveRecovery {
  static func endInterruptedDrives(_ db: Database) throws {
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
