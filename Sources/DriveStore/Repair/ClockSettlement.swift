import Coverage
import GRDB

/// Corrects stored wall times when the clock that they came from was wrong.
public struct ClockSettlement: Sendable {
  /// The result of a settlement.
  public struct Outcome: Hashable, Sendable {
    /// Drives whose times were corrected.
    public var corrected: [Int64] = []
    /// Drives whose times would be corrected if the clock were certain.
    public var doubted: [Int64] = []
    /// Drives of an earlier boot that were recorded with a clock that was never set: their times cannot be
    /// reconstructed.
    public var lost: [Int64] = []
  }

  let store: StoreDatabase

  /// Corrects the times of ended, unsent drives by the ruling clock.
  ///
  /// A drive of this boot gets its times from its time since the boot. For a drive of an earlier boot with a time
  /// before this program existed, no clock can give the time: its sessions are quarantined.
  /// - Parameters:
  ///   - bootID: The present boot of the host.
  ///   - sinceBoot: The time since this boot.
  ///   - now: The ruling wall time. An impossible time changes nothing.
  ///   - isSure: Whether a second clock confirms the ruling one, or none can be asked; otherwise no time is changed.
  /// - Throws: GRDB's `DatabaseError`
  public func settle(
    bootID: String, sinceBoot: Duration, now: WallTime, isSure: Bool = true
  ) async throws -> Outcome {
    guard now >= .earliestTrusted else { return Outcome() }
    let booted = now.microseconds.saturatingSubtracting(sinceBoot.inMicroseconds)
    return try await store.write { db in
      var settled = Outcome()
      let unsent = try Row.fetchAll(
        db,
        sql: """
          SELECT id, started_at, boot_id, started_boot_us FROM intact_drive AS drive
          WHERE ended_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM fence WHERE drive_id = drive.id AND submitted_at IS NOT NULL)
          """)
      for drive in unsent {
        let id: Int64 = drive["id"]
        let started: Int64 = drive["started_at"]
        if !bootID.isEmpty, drive["boot_id"] as String? == bootID,
          let startedSinceBoot = drive["started_boot_us"] as Int64?
        {
          let step = booted.saturatingAdding(startedSinceBoot).saturatingSubtracting(started)
          guard step.saturatingMagnitude >= 1_000_000 else { continue }
          guard isSure else {
            settled.doubted.append(id)
            continue
          }
          try DriveClockTimes.move(id, by: step, db)
          settled.corrected.append(id)
        } else if started < WallTime.earliestTrusted.microseconds {
          if try Self.quarantineUntimed(drive: id, at: now, db) { settled.lost.append(id) }
        }
      }
      return settled
    }
  }

  /// - Returns: Whether anything was quarantined.
  private static func quarantineUntimed(drive: Int64, at time: WallTime, _ db: Database) throws -> Bool {
    let fences = try Row.fetchAll(
      db,
      sql: """
        SELECT fence.id, session_id FROM intact_fence AS fence JOIN session ON session.id = session_id
        WHERE fence.drive_id = ? AND test_uuid IS NULL AND batch_id IS NULL AND submittable
        ORDER BY fence.id
        """, arguments: [drive])
    let bySession = Dictionary(grouping: fences) { $0["session_id"] as Int64 }
    for (session, rows) in bySession.sorted(by: { $0.key < $1.key }) {
      let batch = try BatchTable.make(of: rows.map { $0["id"] }[...], session: session, db)
      try BatchTable.quarantine(
        batch, session: session, "recorded with a clock that was never set: its time is unknown", at: time, db)
    }
    return !fences.isEmpty
  }
}
