import Coverage
import Foundation
import GRDB

/// The stored clocks of the present boot; all their readings count from that boot.
public struct ClockMemory: Sendable {
  let store: StoreDatabase

  /// The clocks as an earlier process of this boot stored them; `nil` when there are none, or they are damaged.
  /// - Throws: GRDB's `DatabaseError`
  public func wallClock(ofBoot bootID: String, at boot: Duration) throws -> WallClock? {
    guard !bootID.isEmpty else { return nil }
    let memory = try store.queue.read { db in
      try String.fetchOne(
        db, sql: "SELECT memory FROM intact_clock WHERE boot_id = ?",
        arguments: [bootID])
    }
    guard let memory, let clock = try? JSONDecoder().decode(WallClock.self, from: Data(memory.utf8)) else { return nil }
    return clock.isPossible(at: boot) ? clock : nil
  }

  /// The wall times of the boot that the drives of this boot were dated by, latest drive first.
  /// - Throws: GRDB's `DatabaseError`
  public func timesOfBoot(_ bootID: String) throws -> [WallTime] {
    guard !bootID.isEmpty else { return [] }
    return try store.queue.read { db in
      try Int64.fetchAll(
        db,
        sql: """
          SELECT started_at - started_boot_us FROM intact_drive
          WHERE boot_id = ? AND typeof(started_at - started_boot_us) = 'integer'
          ORDER BY id DESC LIMIT 100
          """, arguments: [bootID]
      ).map { WallTime(microseconds: $0) }
    }
  }

  /// Stores the clocks of this boot, and deletes those of others. Stores nothing without a selection, or when the boot
  /// is unknown.
  /// - Throws: GRDB's `DatabaseError`
  public func persist(_ clock: WallClock, ofBoot bootID: String) throws {
    guard !bootID.isEmpty, let selection = clock.selection else { return }
    let memory = String(decoding: try JSONEncoder().encode(clock), as: UTF8.self)
    try store.writeNow { db in
      try db.execute(sql: "DELETE FROM clock WHERE boot_id <> ?", arguments: [bootID])
      try db.execute(
        sql: "INSERT OR REPLACE INTO clock (boot_id, booted_at, ruled_by, confirmed, memory) VALUES (?, ?, ?, ?, ?)",
        arguments: [bootID, selection.booted.microseconds, selection.source.rawValue, selection.isConfirmed, memory])
    }
  }
}

/// Moves stored wall times when the clock that they came from was wrong.
enum DriveClockTimes {
  /// Moves all stored times of a drive except anchors: an anchor is the time that the control server received, right
  /// or wrong. Speed tests whose result may have left keep theirs.
  ///
  /// Damaged rows stay unchanged: their times are not used, and adding to them could overflow.
  /// - Parameters:
  ///   - drive: Its id.
  ///   - step: In microseconds.
  ///   - copies: Those of the speed tests: a start after a power cut restores them.
  static func move(_ drive: Int64, by step: Int64, _ copies: RowCopies, _ db: Database) throws {
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
    let tests = try Int64.fetchAll(
      db,
      sql: """
        UPDATE speed_test SET started_at = started_at + ?, ended_at = ended_at + ?
          WHERE id IN (SELECT id FROM intact_speed_test WHERE drive_id = ? AND state IN ('measuring', 'waiting')) RETURNING id
        """, arguments: [step, step, drive])
    for test in tests { try copies.keep(.speedTest, test, db) }
  }
}
