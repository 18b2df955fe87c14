import Coverage
import GRDB

/// Writes one drive while it is recorded.
public struct DriveRecorder: Sendable {
  /// The id of the drive.
  public let drive: Int64
  /// The start of the drive by the selected clock. Changing it moves all stored times of the drive with the next
  /// ``save(sessions:fences:seen:batches:)``; anchors stay as they were sent to the server.
  public var started: WallTime
  /// The start that the stored times relate to.
  var storedStart: WallTime
  let store: StoreDatabase
  var boot: (id: String, sinceBoot: Duration)?
  var log: String?
  var link: String?
  /// ``ServerKey``
  var server: String?
  /// The user's own target of its pings.
  var target: String?

  /// Removes the drive, as it has not begun: another link's part of it could not. A drive with sessions stays.
  /// - Throws: GRDB's `DatabaseError`
  public func discard() throws {
    try store.queue.write { db in
      try db.execute(
        sql: "DELETE FROM drive WHERE id = ? AND NOT EXISTS (SELECT 1 FROM session WHERE drive_id = drive.id)",
        arguments: [drive])
    }
  }

  /// Repairs the store after an error for which ``StoreError/isDamage(_:)`` is true, and restores the drive's row.
  /// Other rows of the drive may be lost: the caller must save all its sessions and fences again.
  /// - Throws: ``StoreError``, GRDB's `DatabaseError`
  public func repair() throws {
    try store.reopen()
    try store.queue.write { db in
      try db.execute(
        sql: """
          INSERT INTO drive (id, started_at, log, link, boot_id, started_boot_us, target) VALUES (?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (id) DO UPDATE SET started_at = excluded.started_at, ended_at = NULL, stop_reason = NULL,
            log = excluded.log, link = excluded.link, boot_id = excluded.boot_id, started_boot_us = excluded.started_boot_us,
            target = excluded.target
          """,
        arguments: [drive, storedStart.microseconds, log, link, boot?.id, boot?.sinceBoot.inMicroseconds, target])
      try RowChecksum.sign("drive", id: drive, db)
    }
  }

  /// Writes sessions and fences in their present state, all or nothing; they are durable on return. Writing the same
  /// values again changes nothing.
  /// - Parameters:
  ///   - seen: How long an open fence is known to last.
  ///   - batches: Batches of stored fences, or of these, that were sent from memory.
  /// - Throws: GRDB's `DatabaseError`; ``StoreError/isDiskFull(_:)`` decides whether a later try may succeed.
  public mutating func save(
    sessions: [Session], fences: [Fence], seen: DriveTime, batches: [BatchInMemory] = []
  ) throws {
    let step = started.microseconds - storedStart.microseconds
    guard !sessions.isEmpty || !fences.isEmpty || step != 0 || !batches.isEmpty else { return }
    try store.writeNow { db in
      if step != 0 { try DriveClockTimes.move(drive, by: step, store.copies, db) }
      for session in sessions { try save(session, db) }
      for fence in fences { try save(fence, seen: seen, db) }
      for batch in batches { try batch.save(as: drive, db) }
    }
    storedStart = started
    try store.checkpointIfDue()
  }

  /// Marks the drive as ended.
  /// - Throws: GRDB's `DatabaseError`
  public func end(at time: DriveTime, reason: StopReason) throws {
    try store.writeNow { db in
      try db.execute(
        sql: "UPDATE drive SET ended_at = ?, stop_reason = ? WHERE id = ?",
        // By the stored start: if that moves later, this time moves with it.
        arguments: [(storedStart + time).microseconds, reason.rawValue, drive])
    }
  }

  func save(_ session: Session, _ db: Database) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO session (id, drive_id, number, test_uuid, client_uuid, loop_uuid, started_at, anchor_at, finalized_at,
          local_address, equipment)
        -- With its id, if it has one: an upsert that finds the row by another key still uses up a new id.
        VALUES ((SELECT id FROM session WHERE drive_id = :drive AND number = :number), :drive, :number,
          -- A server that gives a test twice must not keep fences from being saved.
          iif(EXISTS (SELECT 1 FROM session WHERE test_uuid = :testUUID AND (drive_id, number) <> (:drive, :number)),
            NULL, :testUUID),
          iif(:testUUID IS NULL, NULL, (SELECT client_uuid FROM intact_registration WHERE control_server = :server)),
          :loopUUID, :started, :anchor, :finalized, :localAddress, :equipment)
        ON CONFLICT (id) DO UPDATE SET test_uuid = excluded.test_uuid,
          client_uuid = iif(test_uuid IS excluded.test_uuid, coalesce(client_uuid, excluded.client_uuid), excluded.client_uuid),
          loop_uuid = coalesce(excluded.loop_uuid, loop_uuid),
          anchor_at = excluded.anchor_at, finalized_at = excluded.finalized_at, local_address = excluded.local_address,
          equipment = excluded.equipment
        """)
    try statement.execute(
      arguments: [
        "drive": drive, "number": session.number, "testUUID": session.testUUID, "server": server,
        "loopUUID": session.loopUUID,
        "started": wall(session.started), "anchor": session.anchor.map(wall), "finalized": session.finalized.map(wall),
        "localAddress": session.localAddress, "equipment": session.equipment?.json.text,
      ])
  }

  /// - Parameters:
  ///   - recovered: When the fence was made again from the drive log; `nil` for a measured one.
  ///   - id: For a fence that has no row; `nil`: the next one.
  func save(_ fence: Fence, seen: DriveTime, recovered: WallTime? = nil, id: Int64? = nil, _ db: Database) throws {
    let figures = fence.figures
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO fence (id, drive_id, session_id, number, entered_at, exited_at, last_seen_at, latitude, longitude,
          accuracy_m, altitude_m, course_deg, speed_mps, radius_m, technology, pings, pings_ok, rtt_sum_ns, submittable,
          pings_late, pings_duplicate, rtt_min_ns, rtt_p50_ns, rtt_p95_ns, rtt_max_ns, rtt_bins, ipdv_mean_ns,
          rtt_kernel_mean_ns, radio, pings_unsent, recovered_at, kept)
        VALUES (coalesce((SELECT id FROM fence WHERE drive_id = :drive AND number = :number), :id), :drive,
          (SELECT id FROM session WHERE drive_id = :drive AND number = :session), :number, :entered,
          :exited, :seen, :latitude, :longitude, :accuracy, :altitude, :course, :speed, :radius, :technology, :pings,
          :pingsAnswered, :rttSum, :submittable, :late, :duplicates, :minimum, :median, :percentile95, :maximum,
          :bins, :variation, :kernelMean, :radio, :unsent, :recovered, :kept)
        ON CONFLICT (id) DO UPDATE SET exited_at = excluded.exited_at,
          last_seen_at = excluded.last_seen_at, technology = excluded.technology, pings = excluded.pings,
          pings_ok = excluded.pings_ok, rtt_sum_ns = excluded.rtt_sum_ns, submittable = excluded.submittable,
          pings_late = excluded.pings_late, pings_duplicate = excluded.pings_duplicate,
          rtt_min_ns = excluded.rtt_min_ns, rtt_p50_ns = excluded.rtt_p50_ns, rtt_p95_ns = excluded.rtt_p95_ns,
          rtt_max_ns = excluded.rtt_max_ns, rtt_bins = excluded.rtt_bins, ipdv_mean_ns = excluded.ipdv_mean_ns,
          rtt_kernel_mean_ns = excluded.rtt_kernel_mean_ns, radio = excluded.radio, pings_unsent = excluded.pings_unsent,
          kept = excluded.kept,
          recovered_at = coalesce(excluded.recovered_at, recovered_at)
        """)
    try statement.execute(
      arguments: [
        "drive": drive, "session": fence.session, "number": fence.number, "entered": wall(fence.entered),
        "exited": fence.exited.map(wall), "seen": wall(fence.exited ?? max(fence.entered, seen)),
        "latitude": fence.centre.latitude, "longitude": fence.centre.longitude, "accuracy": fence.fix.accuracy,
        "altitude": fence.fix.altitude, "course": fence.fix.course, "speed": fence.fix.speed, "radius": fence.radius,
        "technology": fence.technology?.name, "pings": fence.pings, "pingsAnswered": fence.pingsAnswered,
        "rttSum": fence.rttSumNanoseconds, "submittable": fence.isSubmittable && target == nil,
        "kept": fence.isSubmittable && target != nil,
        "late": figures.late, "duplicates": figures.duplicates, "minimum": figures.roundTrip?.minimum,
        "median": figures.roundTrip?.median, "percentile95": figures.roundTrip?.percentile95,
        "maximum": figures.roundTrip?.maximum, "bins": figures.delays.isEmpty ? nil : figures.delays.description,
        "variation": figures.meanVariation,
        "kernelMean": figures.kernelMean, "radio": RadioColumn.text(fence.radio), "unsent": figures.unsent,
        "recovered": recovered?.microseconds, "id": id,
      ])
  }

  private func wall(_ time: DriveTime) -> Int64 { (started + time).microseconds }
}

extension DriveRecorder {
  /// Continues a stored drive.
  init(_ store: StoreDatabase, drive: Int64, started: WallTime, target: String? = nil) {
    self.init(drive: drive, started: started, storedStart: started, store: store, target: target)
  }
}
