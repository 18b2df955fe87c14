import Coverage
import GRDB

/// Wall times in the store, when the clock that they came from turns out to have been wrong.
enum DriveClockTimes {
  /// Moves all that is stored of a drive, but for anchors: these are what the control server was told, right or wrong.
  ///
  /// Damaged rows stay as they are: nobody believes their times, and a sum of them can be too great for any.
  /// - Parameter step: Microseconds.
  static func move(_ drive: Int64, by step: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE drive SET started_at = started_at + :step, ended_at = ended_at + :step
          WHERE id IN (SELECT id FROM intact_drive WHERE id = :drive);
        UPDATE session SET started_at = started_at + :step, finalized_at = finalized_at + :step
          WHERE id IN (SELECT id FROM intact_session WHERE drive_id = :drive);
        UPDATE fence SET entered_at = entered_at + :step, exited_at = exited_at + :step,
          last_seen_at = last_seen_at + :step
          WHERE id IN (SELECT id FROM intact_fence WHERE drive_id = :drive);
        """, arguments: ["step": step, "drive": drive])
  }
}
