import Coverage
import GRDB

/// Restores the missing fences of one drive from its log.
struct DriveRecovery {
  let logged: LoggedDrive
  let drive: Int64
  let recorder: DriveRecorder
  let now: WallTime
  /// Whether damage can have removed a fence together with the batch that it was sent in.
  let mayHaveLeft: Bool
  /// The numbers of the recovered fences.
  private(set) var recovered: [Int] = []

  /// Inserts the drive that `logged` describes.
  /// - Returns: Its id.
  static func insertDrive(_ logged: LoggedDrive, _ started: WallTime, _ db: Database) throws -> Int64 {
    try db.execute(
      sql: "INSERT INTO drive (started_at, log, link, target) VALUES (?, ?, ?, ?)",
      arguments: [started.microseconds, logged.log, logged.link, logged.target?.description])
    return db.lastInsertedRowID
  }

  mutating func run(_ db: Database) throws {
    try mendDrive(db)
    try mendSessions(db)
    try recoverMissing(db)
    let accepted = try markAccepted(db)
    try assignToBatches(except: accepted, db)
    try end(db)
  }

  // MARK: Rows

  private func mendDrive(_ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE drive SET log = ?, link = coalesce(link, ?)
        WHERE id IN (SELECT id FROM intact_drive WHERE id = ? AND log IS NOT ?)
        """,
      arguments: [logged.log, logged.link, drive, logged.log])
    try db.execute(
      sql: """
        UPDATE drive SET started_at = ?, ended_at = NULL, stop_reason = NULL, log = ?, link = ?, boot_id = NULL,
          started_boot_us = NULL, target = ?
        WHERE id IN (SELECT id FROM drive WHERE \(RowChecksum.isDamaged("drive")) AND id = ?)
        """, arguments: [recorder.started.microseconds, logged.log, logged.link, logged.target?.description, drive])
    try RowChecksum.sign("drive", id: drive, db)
  }

  /// Restores missing and damaged sessions. The remaining values of a damaged session are not trusted.
  private func mendSessions(_ db: Database) throws {
    let isEnded =
      try Bool.fetchOne(db, sql: "SELECT ended_at IS NOT NULL FROM drive WHERE id = ?", arguments: [drive]) ?? false
    for session in logged.sessions {
      let known = try Row.fetchOne(
        db,
        sql: """
          SELECT id, EXISTS (SELECT 1 FROM intact_session AS whole WHERE whole.id = session.id) AS is_intact
          FROM session WHERE drive_id = ? AND number = ?
          """,
        arguments: [drive, session.number])
      if known?["is_intact"] == true { continue }
      // A damaged row may belong to another drive: release its number and its test.
      if let known {
        try db.execute(
          sql: """
            UPDATE session SET test_uuid = NULL, client_uuid = NULL, loop_uuid = NULL, anchor_at = NULL, finalized_at = NULL,
              submitted_at = NULL, quarantined_at = NULL, quarantine_reason = NULL, recovered_at = NULL,
              local_address = NULL, equipment = NULL WHERE id = ?
            """, arguments: [known["id"] as Int64])
      }
      try recorder.save(session, db)
      guard let id = try db.session(of: drive, number: session.number) else { continue }
      let end = session.finalized ?? (isEnded ? logged.fences.last { $0.session == session.number }?.exited : nil)
      try db.execute(
        sql: "UPDATE session SET started_at = ?, finalized_at = ?, recovered_at = ? WHERE id = ?",
        arguments: [
          (recorder.started + session.started).microseconds, end.map { (recorder.started + $0).microseconds },
          AgeDeletion.notDated, id,
        ])
      try RowChecksum.sign("session", id: id, db)
      try adopt(into: id, number: session.number, db)
      try BatchTable.summarise(session: id, at: now, db)
    }
  }

  /// Fences whose session was missing return to it, and their batches with them.
  private func adopt(into session: Int64, number: Int, _ db: Database) throws {
    guard try db.has("fence WHERE drive_id = ? AND session_id NOT IN (SELECT id FROM session)", [drive]) else { return }
    let statement = try db.cachedStatement(
      sql: """
        UPDATE fence SET session_id = ? WHERE id IN (
          SELECT id FROM intact_fence WHERE drive_id = ? AND number = ? AND latitude = ? AND longitude = ?
            AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = session_id))
        """)
    for fence in logged.fences where fence.session == number {
      try statement.execute(
        arguments: [session, drive, fence.number, fence.centre.latitude, fence.centre.longitude])
    }
    try LostBatches.followFences(db)
  }

  // MARK: Fences

  /// The store's fences are read once: their checksums would cost most of a recovery if they were computed for each fence of the log.
  private mutating func recoverMissing(_ db: Database) throws {
    var stored = try StoredSpans(of: drive, db)
    let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'fence'")
    let hasDamage = try db.has("fence WHERE \(RowChecksum.isDamaged("fence")) AND drive_id = ?", [drive])
    for fence in logged.fences {
      guard let exited = fence.exited else { continue }
      let span = StoredSpans.Span(
        number: fence.number, place: fence.centre, begin: (recorder.started + fence.entered).microseconds,
        end: (recorder.started + exited).microseconds)
      guard stored.lacks(span) else { continue }
      if hasDamage {
        try db.execute(
          sql:
            "DELETE FROM fence WHERE id IN (SELECT id FROM fence WHERE \(RowChecksum.isDamaged("fence")) AND drive_id = ? AND number = ?)",
          arguments: [drive, fence.number])
      }
      try recorder.save(fence, seen: exited, recovered: now, id: try freeID(of: fence.number, db), db)
      stored.add(span)
      recovered.append(fence.number)
    }
    guard !recovered.isEmpty else { return }
    // An export with recovered fences is later than one without, whatever the clock says (docs/fleet.md).
    try db.execute(sql: "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'fence' AND seq = ?", arguments: [last])
  }

  /// The id that the fence had; or else a free id between its neighbours', because a session's ids are in the order of time (docs/fleet.md).
  /// `nil` behind the last fence, and where other links have all ids between.
  private func freeID(of number: Int, _ db: Database) throws -> Int64? {
    try Int64.fetchOne(
      db.cachedStatement(
        sql: """
          WITH before AS (
              SELECT id, id - (number - :number) AS own FROM fence WHERE drive_id = :drive AND number < :number ORDER BY number DESC LIMIT 1),
            behind AS (
              SELECT id, id - (number - :number) AS own FROM fence WHERE drive_id = :drive AND number > :number ORDER BY number LIMIT 1)
          SELECT ifnull(
            -- With ids of other links between these two, they differ.
            (SELECT own FROM behind WHERE own IS ifnull((SELECT own FROM before), own) AND own > 0
              AND NOT EXISTS (SELECT 1 FROM fence WHERE id = own)),
            (SELECT id + 1 FROM fence AS last WHERE id >= (SELECT id FROM before) AND id < (SELECT id - 1 FROM behind)
              AND NOT EXISTS (SELECT 1 FROM fence WHERE id = last.id + 1) ORDER BY id LIMIT 1))
          """), arguments: ["drive": drive, "number": number])
  }

  // MARK: Sending

  /// Marks the fences as sent that the log has as accepted: the recovered ones, and stored ones whose mark or batch was lost.
  /// - Returns: The numbers of the fences that the server has.
  private func markAccepted(_ db: Database) throws -> Set<Int> {
    guard !logged.accepted.isEmpty else { return [] }
    let isUnmarked = try db.cachedStatement(
      sql: """
        SELECT EXISTS (SELECT 1 FROM intact_fence AS fence WHERE drive_id = ? AND number = ? AND (submitted_at IS NULL
          OR batch_id IS NULL OR NOT EXISTS (SELECT 1 FROM intact_batch AS batch WHERE batch.id = fence.batch_id)))
        """)
    for accepted in logged.accepted {
      let unmarked = try accepted.fences.filter { number in
        try Bool.fetchOne(isUnmarked, arguments: [drive, number]) ?? false
      }
      guard !unmarked.isEmpty, let batch = try batch(of: accepted, holding: unmarked, db) else { continue }
      try put(unmarked, into: batch, sent: accepted.accepted.microseconds, db)
      try BatchTable.summarise(sessionOf: batch, at: accepted.accepted, db)
    }
    return Set(logged.accepted.flatMap(\.fences))
  }

  /// The batch of accepted fences: the one with their test, else that of the fences which are still in it, else a new one.
  private func batch(of accepted: AcceptedFences, holding unmarked: [Int], _ db: Database) throws -> Int64? {
    func first(_ sql: String, _ arguments: StatementArguments) throws -> Int64? {
      try Int64.fetchOne(db, sql: sql, arguments: arguments)
    }
    let numbers = accepted.fences.map(String.init).joined(separator: ", ")
    let session = try first(
      "SELECT session_id FROM intact_fence WHERE drive_id = ? AND number = ?", [drive, unmarked[0]])
    guard let session else { return nil }
    let known = try first("SELECT id FROM intact_batch WHERE test_uuid = ?", [accepted.testUUID])
    let id =
      try known
      ?? first(
        """
        SELECT batch_id FROM intact_fence WHERE drive_id = ? AND number IN (\(numbers)) AND submitted_at IS NOT NULL
          AND batch_id NOT IN (SELECT id FROM intact_batch) LIMIT 1
        """, [drive])
    let times = accepted.accepted.microseconds
    try db.execute(
      sql: """
        INSERT INTO batch (id, session_id, test_uuid, anchor_at, state, attempt, sent_fences, sent_at, settled_at)
        VALUES (:id, :session, iif(EXISTS (SELECT 1 FROM batch WHERE test_uuid = :test AND id IS NOT :id), NULL, :test), :anchor,
          'submitted', 1, :fences, :time, :time)
        ON CONFLICT (id) DO UPDATE SET session_id = excluded.session_id, test_uuid = excluded.test_uuid,
          anchor_at = excluded.anchor_at, state = 'submitted', attempt = max(1, iif(typeof(attempt) = 'integer', attempt, 1)),
          troubles = 0, reason = NULL, doubt = NULL, client_uuid = iif(typeof(client_uuid) = 'text', client_uuid, NULL),
          sent_fences = excluded.sent_fences, sent_at = excluded.sent_at, settled_at = excluded.settled_at
        """,
      arguments: [
        "id": id, "session": session, "test": accepted.testUUID, "anchor": accepted.anchor.microseconds,
        "fences": accepted.fences.count, "time": times,
      ])
    let batch = id ?? db.lastInsertedRowID
    // Its row may have been damaged: now all of its values are new.
    try RowChecksum.sign("batch", id: batch, db)
    return batch
  }

  /// If a batch left with more fences than it has now, some of the recovered fences were in it.
  /// - Parameter accepted: The numbers of fences that the server has.
  private func assignToBatches(except accepted: Set<Int>, _ db: Database) throws {
    // Fences of the user's own target are never sent.
    guard logged.target == nil else { return }
    let submittable = Set(recovered).subtracting(accepted)
    let bySession = Dictionary(
      grouping: logged.fences.filter { $0.isSubmittable && submittable.contains($0.number) }, by: \.session)
    for (number, fences) in bySession.sorted(by: { $0.key < $1.key }) {
      guard let session = try db.session(of: drive, number: number) else { continue }
      try assign(fences.map(\.number), of: session, db)
      try BatchTable.summarise(session: session, at: now, db)
    }
  }

  private func assign(_ fences: [Int], of session: Int64, _ db: Database) throws {
    let there = "(SELECT count(*) FROM intact_fence WHERE batch_id = batch.id)"
    let lacking = try Row.fetchAll(
      db,
      sql: """
        SELECT id, state, settled_at, sent_fences - \(there) AS lacks FROM intact_batch AS batch
        WHERE session_id = ? AND state IN ('submitted', 'sending', 'quarantined') AND sent_fences > \(there)
        """, arguments: [session])
    let lost = try Int64.fetchAll(
      db, sql: "SELECT id FROM batch WHERE session_id = ? AND state = 'sending' AND sent_fences IS NULL",
      arguments: [session])
    let count = lacking.reduce(0 as Int64) { $0 + ($1["lacks"] as Int64) }
    // Of its batches, sent fences were deleted (`FenceDeletion`), and nothing says how many.
    let isThinned = try db.has(
      "intact_batch WHERE session_id = ? AND state = 'submitted' AND sent_fences = 0", [session])
    let mayJoin = !isThinned && count >= fences.count
    if count == 0, !isThinned {
      // The row of a lost batch does not contain its number of fences.
      if lost.count == 1 {
        try put(fences, into: lost[0], sent: nil, db)
      } else if mayHaveLeft || !lost.isEmpty {
        try LostBatches.make(of: try rows(of: fences, db)[...], session: session, db)
      }
    } else if mayJoin, lacking.count == 1, let batch = lacking.first {
      try put(
        fences, into: batch["id"], sent: batch["state"] == "submitted" ? batch["settled_at"] ?? now.microseconds : nil,
        db)
    } else if mayJoin, lacking.allSatisfy({ $0["state"] == "submitted" }) {
      try put(fences, into: nil, sent: now.microseconds, db)
    } else {
      let batch = try BatchTable.make(of: try rows(of: fences, db)[...], session: session, db)
      try BatchTable.quarantine(
        batch, session: session,
        "recovered from the drive log; \(isThinned ? "some" : "\(count)") of these fences may have been sent before the damage",
        mayHaveArrived: true, at: now, db)
    }
  }

  private func rows(of fences: [Int], _ db: Database) throws -> [Int64] {
    let statement = try db.cachedStatement(sql: "SELECT id FROM fence WHERE drive_id = ? AND number = ?")
    return try fences.compactMap { try Int64.fetchOne(statement, arguments: [drive, $0]) }
  }

  private func put(_ fences: [Int], into batch: Int64?, sent: Int64?, _ db: Database) throws {
    let statement = try db.cachedStatement(
      sql: "UPDATE fence SET batch_id = ?, submitted_at = ? WHERE drive_id = ? AND number = ?")
    for number in fences { try statement.execute(arguments: [batch, sent, drive, number]) }
  }

  // MARK: The end

  /// Ends the drive as in the log; a drive whose log has no end is ended as an interrupted one.
  private func end(_ db: Database) throws {
    guard let stopped = logged.stopped else { return }
    let wall = { (recorder.started + $0 as WallTime).microseconds }
    for session in logged.sessions {
      try db.execute(
        sql: "UPDATE session SET finalized_at = ? WHERE drive_id = ? AND number = ? AND finalized_at IS NULL",
        arguments: [session.finalized.map(wall) ?? wall(stopped.at), drive, session.number])
    }
    try db.execute(
      sql: "UPDATE fence SET exited_at = last_seen_at WHERE exited_at IS NULL AND drive_id = ?", arguments: [drive])
    try db.execute(
      sql: """
        UPDATE drive SET ended_at = ?, stop_reason = ? WHERE id = ? AND (ended_at IS NULL OR stop_reason = 'interrupted')
        """, arguments: [wall(stopped.at), stopped.reason.rawValue, drive])
  }
}
