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

  /// Corrects the times of ended, unsent drives by the selected clock.
  ///
  /// A drive of this boot gets its times from its time since the boot. For a drive of an earlier boot with a time
  /// before this program existed, no clock can give the time: its sessions are quarantined.
  /// - Parameters:
  ///   - bootID: The present boot of the host.
  ///   - sinceBoot: The time since this boot.
  ///   - now: The selected wall time. An impossible time changes nothing.
  ///   - isSure: Whether a second clock confirms the selected one, or none can be asked; otherwise no time is changed.
  /// - Throws: GRDB's `DatabaseError`
  public func settle(
    bootID: String, sinceBoot: Duration, now: WallTime, isSure: Bool = true
  ) async throws -> Outcome {
    guard now >= .earliestTrusted else { return Outcome() }
    let booted = now.microseconds.saturatingSubtracting(sinceBoot.inMicroseconds)
    let look = { @Sendable (db: Database) in try Self.misdated(bootID: bootID, booted: booted, db) }
    // Each batch of a pass asks: a drive must not wait for that, and mostly nothing is to be done.
    guard try await !store.read(look).isEmpty else { return Outcome() }
    return try await store.write { [copies = store.copies] db in
      var settled = Outcome()
      for drive in try look(db) {
        switch drive.step {
        case nil: if try Self.quarantineUntimed(drive: drive.id, at: now, db) { settled.lost.append(drive.id) }
        case let step? where isSure:
          try DriveClockTimes.move(drive.id, by: step, copies, db)
          settled.corrected.append(drive.id)
        case .some: settled.doubted.append(drive.id)
        }
      }
      return settled
    }
  }

  /// A drive whose times do not fit the clock: they move by `step`; `nil`: they cannot be known.
  private struct Misdated {
    let id: Int64
    let step: Int64?
  }

  /// The ended drives without a sent fence whose times do not fit. Only of these the fences are read.
  private static func misdated(bootID: String, booted: Int64, _ db: Database) throws -> [Misdated] {
    try Row.fetchAll(
      db, sql: "SELECT id, started_at, boot_id, started_boot_us FROM intact_drive WHERE ended_at IS NOT NULL"
    ).compactMap { row -> Misdated? in
      let started: Int64 = row["started_at"]
      if !bootID.isEmpty, row["boot_id"] as String? == bootID, let startedSinceBoot = row["started_boot_us"] as Int64? {
        let step = booted.saturatingAdding(startedSinceBoot).saturatingSubtracting(started)
        return step.saturatingMagnitude >= 1_000_000 ? Misdated(id: row["id"], step: step) : nil
      }
      return started < WallTime.earliestTrusted.microseconds ? Misdated(id: row["id"], step: nil) : nil
    }.filter { drive in
      try !db.has("fence WHERE drive_id = ? AND submitted_at IS NOT NULL", [drive.id])
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
