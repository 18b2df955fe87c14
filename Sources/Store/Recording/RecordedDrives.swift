import Coverage
import GRDB

/// The stored drives: the id of the next one, and those left unfinished by a process that was killed or lost power.
public struct RecordedDrives: Sendable {
  let store: StoreDatabase

  /// The id that the next drive will have.
  /// - Throws: GRDB's `DatabaseError`
  public func next() async throws -> Int64 {
    try await store.readAmongWrites { db in
      try Int64.fetchOne(
        db,
        sql: """
          SELECT max(id) + 1 FROM (SELECT 0 AS id UNION SELECT id FROM drive
            UNION SELECT seq FROM sqlite_sequence WHERE name = 'drive')
          """) ?? 1
    }
  }

  /// In microseconds: a lost ping is known as lost at this age, with the default settings. A younger fence without a ping says nothing.
  private static let lostAfter = 1_100_000

  /// Ends all unfinished drives, their sessions and their open fences, at their last known moments.
  ///
  /// Every unfinished drive except the running ones belongs to a process that is gone.
  /// The age of the ended sessions counts from the next ``AgeDeletion`` for which two clocks agree: the present one may be wrong.
  /// - Parameter running: The lowest id of the drives that this process records; they stay unchanged.
  /// - Returns: The number of ended sessions.
  /// - Throws: GRDB's `DatabaseError`
  @discardableResult
  public func endInterrupted(except running: Int64? = nil) async throws -> Int {
    try await store.write { db in
      try db.execute(
        sql: """
          UPDATE fence SET submittable = 0 WHERE pings = 0 AND submittable AND submitted_at IS NULL
            AND drive_id IN (SELECT id FROM drive WHERE ended_at IS NULL AND id < ?)
            AND entered_at > (SELECT max(last_seen_at) FROM fence AS last WHERE last.drive_id = fence.drive_id) - \(Self.lostAfter)
          """, arguments: [running ?? .max])
      try db.execute(
        sql: "UPDATE fence SET exited_at = last_seen_at WHERE exited_at IS NULL AND drive_id < ?",
        arguments: [running ?? .max])
      try db.execute(
        sql: """
          UPDATE session SET recovered_at = \(AgeDeletion.notDated), finalized_at =
              max(started_at, coalesce((SELECT max(exited_at) FROM intact_fence WHERE session_id = session.id), started_at))
            WHERE finalized_at IS NULL AND drive_id < ?
          """, arguments: [running ?? .max])
      let ended = db.changesCount
      try db.execute(
        sql: """
          UPDATE drive SET stop_reason = 'interrupted', ended_at =
              max(started_at, coalesce((SELECT max(finalized_at) FROM session WHERE drive_id = drive.id), started_at))
            WHERE ended_at IS NULL AND id < ?
          """, arguments: [running ?? .max])
      return ended
    }
  }

  /// By link, the loop of a drive that was interrupted within the last hour; the next drive continues it. The drive
  /// may have been ended meanwhile, but no other drive of the link may have followed.
  /// - Parameters:
  ///   - bootID: The present boot of the host. Within one boot, CLOCK_BOOTTIME gives the time since the interruption
  ///   even if the wall clock was set.
  ///   - sinceBoot: The time since this boot.
  ///   - now: The wall clock. If it shows an impossible time, the time since an earlier boot is unknown.
  /// - Throws: GRDB's `DatabaseError`
  public func loopsToContinue(bootID: String, sinceBoot: Duration, now: WallTime) async throws -> [String?: String] {
    try await store.readAmongWrites { db in
      let interrupted = try Row.fetchAll(
        db,
        sql: """
          SELECT link, loop_uuid, boot_id, started_boot_us - started_at + seen AS seen_boot_us, seen FROM (
            SELECT session.id, drive.link, loop_uuid, boot_id, started_boot_us, drive.started_at,
              -- Computed for the last drive of each link only.
              (SELECT max(last_seen_at) FROM intact_fence WHERE drive_id = drive.id) AS seen
            FROM intact_session AS session JOIN intact_drive AS drive ON drive.id = drive_id
            WHERE (drive.ended_at IS NULL OR drive.stop_reason = 'interrupted') AND loop_uuid IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM session AS later JOIN drive AS after ON after.id = later.drive_id
                WHERE after.link IS drive.link AND after.id > drive.id))
          ORDER BY id
          """)
      let recent = interrupted.filter { row in
        let isOfThisBoot = !bootID.isEmpty && row["boot_id"] as String? == bootID
        let age: Int64? =
          if isOfThisBoot, let seen = row["seen_boot_us"] as Int64? {
            sinceBoot.inMicroseconds.saturatingSubtracting(seen)
          } else if now >= .earliestTrusted, let seen = row["seen"] as Int64? {
            now.microseconds.saturatingSubtracting(seen)
          } else { nil }
        return age.map { (0..<3_600_000_000).contains($0) } ?? false
      }
      return Dictionary(recent.map { ($0["link"] as String?, $0["loop_uuid"]) }) { $1 }
    }
  }
}
