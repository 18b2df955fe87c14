import Coverage
import GRDB

/// Batches whose rows were damaged, or lost in a salvage, while their fences count as unsent.
///
/// Such a batch may have been sent, so it is in doubt: state `sending`, with attempt 0 because nothing else is known.
/// Only the name of its test is used, and only to read the history: a wrong anchor would misplace all its fences.
public struct LostBatches: Sendable {
  /// The most fences of a batch in doubt, the same as of other batches.
  public static let limit = 400

  let store: StoreDatabase

  /// Repairs damaged rows of batches with unsent fences.
  /// - Parameter running: The lowest id of the running drives, which stay unchanged.
  /// - Returns: The number of batches now in doubt.
  /// - Throws: GRDB's `DatabaseError`
  public func doubtDamaged(except running: Int64? = nil) async throws -> Int {
    // Mostly there is none: a drive must not wait for that.
    let isAny = try await store.read { try $0.has("batch WHERE \(RowChecksum.isDamaged("batch"))") }
    guard isAny else { return 0 }
    return try await store.write { db in
      let damaged = try Row.fetchAll(
        db,
        sql: """
          SELECT batch_id AS batch, min(session_id) AS session FROM \(Self.waiting)
            AND batch_id IN (SELECT id FROM batch WHERE \(RowChecksum.isDamaged("batch"))) AND drive_id < ?
          GROUP BY batch_id
          """, arguments: [running ?? .max])
      for row in damaged {
        let batch: Int64 = row["batch"]
        try db.execute(
          sql: """
            UPDATE batch SET session_id = ?, state = 'sending', attempt = 0, troubles = 0, sent_fences = NULL,
              sent_at = NULL, settled_at = NULL, reason = NULL, doubt = NULL, anchor_at = NULL,
              test_uuid = iif(typeof(test_uuid) = 'text', test_uuid, NULL),
              client_uuid = iif(typeof(client_uuid) = 'text', client_uuid, NULL)
            WHERE id = ?
            """, arguments: [row["session"] as Int64, batch])
        try RowChecksum.sign("batch", id: batch, db)
        try BatchTable.nameClient(of: batch, db)
      }
      return damaged.count
    }
  }

  /// Assigns each batch without a session to the session of its fences. After damage to the table of sessions, the drive's log gives the
  /// fences a new session, and a pass finds batches by their session.
  /// - Returns: The number of batches that have a session again.
  /// - Throws: GRDB's `DatabaseError`
  public func followFences() async throws -> Int { try await store.write(Self.followFences) }

  @discardableResult
  static func followFences(_ db: Database) throws -> Int {
    let known =
      "SELECT session_id FROM intact_fence WHERE batch_id = batch.id AND session_id IN (SELECT id FROM session)"
    try db.execute(
      sql: """
        UPDATE batch SET session_id = (SELECT min(session_id) FROM (\(known)))
        WHERE session_id NOT IN (SELECT id FROM session)
          AND EXISTS (SELECT 1 FROM intact_batch AS whole WHERE whole.id = batch.id) AND EXISTS (\(known))
        """)
    return db.changesCount
  }

  /// Inserts rows for batches that a salvage lost. If all unsent fences of a session were in one of them, it can only
  /// have gone to the session's test.
  static func doubtMissing(_ db: Database) throws {
    try settleSentBatches(db)
    let lost = try Int64.fetchAll(
      db,
      sql: """
        INSERT INTO batch (id, session_id, state) SELECT batch_id, min(session_id), 'sending' FROM \(waiting)
          -- Without a row in batch, NOT IN is true for NULL: fences of no batch are not one.
          AND batch_id IS NOT NULL AND batch_id NOT IN (SELECT id FROM batch) GROUP BY batch_id
        RETURNING id
        """)
    // Sent fences need no batch.
    try db.execute(sql: "UPDATE fence SET batch_id = NULL WHERE batch_id NOT IN (SELECT id FROM batch)")
    for batch in lost {
      try db.execute(
        sql: """
          UPDATE batch SET test_uuid = session.test_uuid, anchor_at = session.anchor_at FROM session
          WHERE batch.id = ? AND session.id = batch.session_id AND session.anchor_at IS NOT NULL
            AND session.test_uuid NOT IN (SELECT test_uuid FROM batch WHERE test_uuid IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submittable AND batch_id IS NOT batch.id)
          """, arguments: [batch])
      try BatchTable.nameClient(of: batch, db)
    }
  }

  /// The fences of a batch are marked as sent in one transaction, and no fence joins a batch later: if one is sent,
  /// all are.
  private static func settleSentBatches(_ db: Database) throws {
    let sent = "SELECT batch_id FROM intact_fence WHERE batch_id IS NOT NULL AND submitted_at IS NOT NULL"
    try db.execute(
      sql: """
        UPDATE fence SET submitted_at = (SELECT max(submitted_at) FROM fence AS other WHERE other.batch_id = fence.batch_id)
          WHERE id IN (SELECT id FROM intact_fence WHERE submitted_at IS NULL AND batch_id IN (\(sent)));
        UPDATE batch SET state = 'submitted', settled_at = coalesce(settled_at,
            (SELECT max(submitted_at) FROM fence WHERE batch_id = batch.id))
          WHERE state IN ('waiting', 'sending') AND id IN (\(sent));
        """)
  }

  /// The fences to send, as far as the store knows. For a statement that continues with `AND`.
  private static let waiting = "intact_fence AS fence WHERE submittable AND submitted_at IS NULL"

  /// Puts all unsent fences in doubt, for a store that is older than what was sent: the server's history is read
  /// before any of them is sent.
  ///
  /// Fences without a batch get one, as in a pass, so that the batches match those that were sent.
  /// - Parameters:
  ///   - limit: The most fences of a batch.
  ///   - running: The lowest id of the running drives, which stay unchanged.
  /// - Returns: The number of fences in doubt.
  /// - Throws: GRDB's `DatabaseError`
  public func doubtUnsent(limit: Int = limit, except running: Int64? = nil) async throws -> Int {
    try await store.write { db in
      try Orphans.adoptMissing(except: running, db)
      let waiting = "\(Self.waiting) AND drive_id < \(running ?? .max)"
      try db.execute(
        sql: """
          UPDATE batch SET state = 'sending', attempt = 0 WHERE id IN (
            SELECT id FROM intact_batch AS batch WHERE state IN ('waiting', 'sending')
              AND EXISTS (SELECT 1 FROM \(waiting) AND batch_id = batch.id))
          """)
      for batch in try Int64.fetchAll(db, sql: "SELECT id FROM batch WHERE state = 'sending' AND attempt = 0") {
        try BatchTable.nameClient(of: batch, db)
      }
      let loose = try Row.fetchAll(
        db,
        sql: """
          SELECT id, session_id FROM \(waiting) AND batch_id IS NULL AND exited_at IS NOT NULL
            AND abs(latitude) <= 90 AND abs(longitude) <= 180
          ORDER BY session_id, entered_at, number
          """)
      for (session, fences) in Dictionary(grouping: loose, by: { $0["session_id"] as Int64 }).sorted(by: {
        $0.key < $1.key
      }) {
        try Self.make(of: fences.map { $0["id"] as Int64 }[...], limit: limit, session: session, db)
      }
      return try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM \(waiting)
            AND batch_id IN (SELECT id FROM batch WHERE state = 'sending' AND attempt = 0)
          """) ?? 0
    }
  }

  /// Puts fences that may have been sent into batches in doubt.
  static func make(of fences: ArraySlice<Int64>, limit: Int = limit, session: Int64, _ db: Database) throws {
    var rest = fences
    while !rest.isEmpty {
      let batch = try BatchTable.make(of: rest.prefix(limit), session: session, db)
      try BatchTable.useSessionsTest(for: batch, db)
      try db.execute(sql: "UPDATE batch SET state = 'sending' WHERE id = ?", arguments: [batch])
      try BatchTable.nameClient(of: batch, db)
      rest = rest.dropFirst(limit)
    }
  }
}
