import Coverage
import GRDB

/// The steps of the outbox. They run inside a transaction of the caller.
enum BatchTable {
  static func batches(_ condition: String, _ arguments: StatementArguments, _ db: Database) throws -> [Batch] {
    // To prepare it takes longer than to run it: a pass asks for many sessions.
    let statement = try db.cachedStatement(sql: "SELECT \(Batch.columns) WHERE \(condition) ORDER BY batch.id")
    return try Row.fetchAll(statement, arguments: arguments).compactMap(Batch.init)
  }

  /// - Returns: Its id.
  @discardableResult
  static func make(
    of fences: ArraySlice<Int64>, session: Int64, troubles: Int = 0, _ db: Database
  ) throws -> Int64 {
    try db.execute(
      sql: "INSERT INTO batch (session_id, state, troubles) VALUES (?, 'waiting', ?)", arguments: [session, troubles])
    let batch = db.lastInsertedRowID
    let statement = try db.cachedStatement(sql: "UPDATE fence SET batch_id = ? WHERE id = ?")
    for fence in fences { try statement.execute(arguments: [batch, fence]) }
    return batch
  }

  static func useSessionsTest(for batch: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE batch SET test_uuid = session.test_uuid, anchor_at = session.anchor_at, client_uuid = session.client_uuid
        FROM session
        WHERE batch.id = ? AND session.id = batch.session_id AND session.anchor_at IS NOT NULL
          AND session.test_uuid NOT IN (SELECT test_uuid FROM batch WHERE test_uuid IS NOT NULL)
          -- The batch that used it may be lost.
          AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submitted_at IS NOT NULL)
        """, arguments: [batch])
  }

  /// Stores the client under which `batch` left, if it is known: that of its session, or the only one in the store.
  static func nameClient(of batch: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE batch SET client_uuid = coalesce(client_uuid,
          (SELECT client_uuid FROM intact_session WHERE id = batch.session_id),
          (SELECT min(client_uuid) FROM intact_registration HAVING count(*) = 1))
        WHERE id = ?
        """, arguments: [batch])
  }

  // MARK: Settling

  /// - Parameter mayHaveArrived: ``Batch/isQuarantinedInDoubt``.
  static func quarantine(
    _ batch: Int64, session: Int64, _ reason: String, mayHaveArrived: Bool = false, at time: WallTime, _ db: Database
  ) throws {
    try db.execute(
      sql: """
        UPDATE batch SET state = 'quarantined', settled_at = ?, reason = ?,
          doubt = iif(?, ifnull(doubt, 'may have arrived'), NULL)
        WHERE id = ?
        """, arguments: [time.microseconds, reason, mayHaveArrived, batch])
    try summarise(sessionOf: batch, at: time, db)
  }

  /// If the session's own test has no fences, because its batch was split or sent again, the session takes the first
  /// test that has some.
  static func nameSession(byTestOf batch: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE session SET test_uuid = batch.test_uuid, anchor_at = batch.anchor_at, client_uuid = batch.client_uuid FROM batch
        WHERE batch.id = ? AND session.id = batch.session_id AND batch.test_uuid IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM batch AS own WHERE own.test_uuid = session.test_uuid AND own.state = 'submitted')
        """, arguments: [batch])
  }

  static func summarise(sessionOf batch: Int64, at time: WallTime, _ db: Database) throws {
    let session = try Int64.fetchOne(db, sql: "SELECT session_id FROM batch WHERE id = ?", arguments: [batch])
    if let session { try summarise(session: session, at: time, db) }
  }

  /// Updates a session's row from its batches and fences.
  /// - Parameter time: The submission time, if the session is completely sent now.
  static func summarise(session: Int64, at time: WallTime, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE session SET
          submitted_at = iif(EXISTS (SELECT 1 FROM intact_fence WHERE session_id = session.id AND submitted_at IS NOT NULL)
            AND NOT EXISTS (
              SELECT 1 FROM intact_fence WHERE session_id = session.id AND submittable AND submitted_at IS NULL),
            ?, NULL),
          quarantined_at = (
            SELECT min(settled_at) FROM batch WHERE session_id = session.id AND state = 'quarantined'),
          quarantine_reason = (
            SELECT reason FROM batch WHERE session_id = session.id AND state = 'quarantined' ORDER BY id LIMIT 1)
        WHERE id = ?
        """, arguments: [time.microseconds, session])
  }
}

extension Batch {
  /// Omits damaged rows, and fences that the server already has through other batches. Reads only the first fence of a waiting batch: a
  /// queue can have hundreds of thousands. The history is compared with the others, so that their intact fences are counted.
  /// `earliest` is NULL for a batch without intact fences.
  static let columns = """
    batch.*, drive.started_at AS drive_started_at,
      CASE batch.state WHEN 'submitted' THEN (SELECT count(*) FROM fence AS own WHERE own.batch_id = batch.id)
        WHEN 'waiting' THEN
          ifnull((SELECT fences FROM unsent WHERE unsent.session_id = batch.session_id AND unsent.batch_id = batch.id),
            (SELECT count(*) FROM fence AS own WHERE own.batch_id = batch.id AND own.submitted_at IS NULL))
        ELSE (SELECT count(*) FROM intact_fence AS own WHERE own.batch_id = batch.id AND own.submitted_at IS NULL)
        END AS fences,
      (SELECT entered_at FROM intact_fence AS fence
        WHERE fence.batch_id = batch.id AND (fence.submitted_at IS NULL OR batch.state = 'submitted')
        ORDER BY fence.number LIMIT 1) AS earliest
    FROM intact_batch AS batch
      JOIN intact_session AS session ON session.id = batch.session_id
      JOIN intact_drive AS drive ON drive.id = session.drive_id
    """

  init?(row: Row) {
    guard let state = State(rawValue: row["state"]), let earliest = row["earliest"] as Int64? else { return nil }
    func time(_ column: String) -> WallTime? { (row[column] as Int64?).map(WallTime.init(microseconds:)) }
    id = row["id"]
    session = row["session_id"]
    driveStarted = WallTime(microseconds: row["drive_started_at"])
    let uuid: String? = row["test_uuid"]
    let anchor = time("anchor_at")
    test = if let uuid, let anchor { Test(uuid: uuid, anchor: anchor) } else { nil }
    lostTest = anchor == nil ? uuid : nil
    client = row["client_uuid"]
    self.state = state
    attempt = row["attempt"]
    troubles = row["troubles"]
    sent = time("sent_at")
    doubt = row["doubt"]
    sentFences = row["sent_fences"]
    fences = row["fences"]
    self.earliest = WallTime(microseconds: earliest)
  }
}
