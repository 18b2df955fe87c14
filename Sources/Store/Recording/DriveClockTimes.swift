import Coverage
import GRDB

/// Moves stored wall times when the clock that they came from was wrong.
enum DriveClockTimes {
  /// Moves all stored times of a drive except anchors: an anchor is the time that the control server received, right
  /// or wrong. Speed tests whose result may have left keep theirs.
  ///
  /// Damaged rows stay unchanged: their times are not used, and adding to them could overflow.
  /// - Parameters:
  ///   - drive: Its id.
  ///   - step: In microseconds.
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
        UPDATE speed_test SET started_at = started_at + :step, ended_at = ended_at + :step
          WHERE id IN (SELECT id FROM intact_speed_test WHERE drive_id = :drive AND state IN ('measuring', 'waiting'));
        """, arguments: ["step": step, "drive": drive])
  }
}
