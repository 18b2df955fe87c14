import Coverage
import GRDB

/// The batches of the store: fences to send, on their way, sent or refused. Each step is durable before anything
/// relies on it.
public struct Outbox: Sendable {
  let store: StoreDatabase

  // MARK: Reading

  /// The batches of `sessions` in one of these states.
  /// - Throws: GRDB's `DatabaseError`
  public func batches(of sessions: [Int64], in states: [Batch.State]) async throws -> [Batch] {
    try await read(of: sessions) {
      try BatchTable.batches("batch.session_id = ? AND \(Self.isOne(of: states))", [$0], $1)
    }
  }

  /// Those of `sessions` that have fences to send: in a batch of one of these states, or in none yet. It reads one fence of each.
  /// - Throws: GRDB's `DatabaseError`
  public func sendable(_ sessions: [Int64], in states: [Batch.State]) async throws -> [Int64] {
    let sql = """
      SELECT EXISTS (SELECT 1 FROM \(Self.loose) AND \(RowChecksum.isIntact("fence")))
        OR EXISTS (SELECT 1 FROM intact_batch AS batch WHERE session_id = :session AND \(Self.isOne(of: states))
          AND EXISTS (SELECT 1 FROM intact_fence WHERE batch_id = batch.id AND submitted_at IS NULL))
      """
    return try await read(of: sessions) {
      try Bool.fetchOne($1.cachedStatement(sql: sql), arguments: ["session": $0]) == true ? [$0] : []
    }
  }

  /// Reads something of each session, of some at a time: a status comes between two reads.
  private func read<Value: Sendable>(
    of sessions: [Int64], _ body: @escaping @Sendable (Int64, Database) throws -> [Value]
  ) async throws -> [Value] {
    var values: [Value] = []
    for start in stride(from: 0, to: sessions.count, by: 100) {
      values += try await store.read { db in try sessions[start...].prefix(100).flatMap { try body($0, db) } }
    }
    return values
  }

  private static func isOne(of states: [Batch.State]) -> String {
    "batch.state IN (\(states.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
  }

  /// The tests whose use is known, in lower case: those of batches, damaged ones included, and those of partly sent
  /// sessions.
  /// - Throws: GRDB's `DatabaseError`
  public func knownTests() async throws -> Set<String> {
    try await store.read { db in
      try String.fetchSet(
        db,
        sql: """
          SELECT lower(test_uuid) FROM batch WHERE typeof(test_uuid) = 'text'
          UNION SELECT lower(test_uuid) FROM intact_session AS session WHERE test_uuid IS NOT NULL
            AND EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submitted_at IS NOT NULL)
          """)
    }
  }

  /// Puts all unsent fences of `sessions` that have no batch into batches.
  ///
  /// The first batch of a session gets the session's own test, if no batch has used it. Rows with an impossible
  /// position are quarantined here, because no server accepts them.
  /// - Parameters:
  ///   - sessions: Their ids.
  ///   - limit: The most fences of a batch.
  ///   - time: Now, for the quarantine.
  /// - Throws: GRDB's `DatabaseError`
  public func makeBatches(of sessions: [Int64], limit: Int, at time: WallTime) async throws {
    let sql = "SELECT EXISTS (SELECT 1 FROM \(Self.loose))"
    let withLoose = try await read(of: sessions) {
      try Bool.fetchOne($1.cachedStatement(sql: sql), arguments: ["session": $0]) == true ? [$0] : []
    }
    for session in withLoose {
      let fences = try await store.read { db in
        try Row.fetchAll(
          db,
          sql: """
            SELECT id, abs(latitude) <= 90 AND abs(longitude) <= 180 AS is_on_earth FROM intact_fence
            WHERE session_id = ? AND \(Self.isLoose) ORDER BY entered_at, number
            """, arguments: [session]
        ).map { (id: $0["id"] as Int64, isOnEarth: $0["is_on_earth"] as Bool) }
      }
      // A transaction a batch: the fences of a drive are written between two.
      var good = fences.filter(\.isOnEarth).map(\.id)[...]
      while !good.isEmpty {
        try await makeBatch(of: Array(good.prefix(limit)), session: session) {
          try BatchTable.useSessionsTest(for: $0, $1)
        }
        good = good.dropFirst(limit)
      }
      let damaged = fences.filter { !$0.isOnEarth }.map(\.id)
      try await makeBatch(of: damaged, session: session) { batch, db in
        try BatchTable.quarantine(batch, session: session, "its position is damaged in the store", at: time, db)
      }
    }
  }

  /// The condition that a fence is to be put into a batch. An index has these fences.
  private static let isLoose = "batch_id IS NULL AND submitted_at IS NULL AND submittable AND exited_at IS NOT NULL"
  private static let loose = "fence INDEXED BY fence_waiting WHERE session_id = :session AND \(isLoose)"

  /// Puts those of `fences` into a batch that are still loose.
  private func makeBatch(
    of fences: [Int64], session: Int64, then finish: @escaping @Sendable (Int64, Database) throws -> Void
  ) async throws {
    guard !fences.isEmpty else { return }
    try await store.write { db in
      let loose = try fences.filter {
        try db.has("fence WHERE id = ? AND session_id = ? AND \(Self.isLoose)", [$0, session])
      }
      if !loose.isEmpty { try finish(try BatchTable.make(of: loose[...], session: session, db), db) }
    }
  }

  // MARK: Changing a batch

  /// Assigns to `batch` the test that the control server granted for it.
  /// - Parameters:
  ///   - batch: Its id.
  ///   - test: The test and its anchor.
  ///   - loopUUID: The loop that the test belongs to.
  ///   - client: The client UUID that requested the test.
  /// - Throws: ``StoreError/usedTest(_:)``, GRDB's `DatabaseError`
  public func anchor(batch: Int64, test: Batch.Test, loopUUID: String?, client: String) async throws {
    try await store.write { db in
      let others = try Int.fetchOne(
        db,
        sql: """
          SELECT (SELECT count(*) FROM batch WHERE test_uuid = :test AND id <> :batch)
            + (SELECT count(*) FROM session WHERE test_uuid = :test AND id <> (SELECT session_id FROM batch WHERE id = :batch))
          """, arguments: ["test": test.uuid, "batch": batch])
      guard others == 0 else { throw StoreError.usedTest(test.uuid) }
      // A session takes the UUID of its first usable test.
      try db.execute(
        sql: """
          UPDATE session SET test_uuid = ?, loop_uuid = ?, anchor_at = ?, client_uuid = ? FROM batch
          WHERE batch.id = ? AND session.id = batch.session_id
            AND (session.test_uuid IS NULL OR session.test_uuid = batch.test_uuid)
          """, arguments: [test.uuid, loopUUID, test.anchor.microseconds, client, batch])
      try db.execute(
        sql: "UPDATE batch SET test_uuid = ?, anchor_at = ?, client_uuid = ? WHERE id = ?",
        arguments: [test.uuid, test.anchor.microseconds, client, batch])
    }
  }

  /// Marks `batch` as sending. Must be called before its first byte leaves: after any crash, the next process knows
  /// that the server may have it.
  /// - Parameters:
  ///   - fences: The number of fences in the body.
  ///   - client: The client UUID of the request; a batch stores the first one of its test.
  ///   - doubt: ``Batch/doubt``.
  public func beginSending(
    batch: Int64, fences: Int, client: String, doubt: String? = nil, at time: WallTime
  ) async throws {
    try await store.execute(
      """
      UPDATE batch SET state = 'sending', attempt = attempt + 1, sent_fences = ?, sent_at = ?,
        doubt = ?, client_uuid = coalesce(client_uuid, ?)
      WHERE id = ?
      """, [fences, time.microseconds, doubt, client, batch])
  }

  /// Marks `batch` as waiting again: the server has certainly not stored it.
  /// - Throws: GRDB's `DatabaseError`
  public func release(batch: Int64) async throws {
    try await store.execute("UPDATE batch SET state = 'waiting' WHERE id = ?", [batch])
  }

  /// Marks `batch` as in doubt because of an earlier request only: the server has certainly not stored the last one.
  /// - Parameters:
  ///   - sent: When the earlier request left.
  ///   - doubt: ``Batch/doubt``.
  /// - Throws: GRDB's `DatabaseError`
  public func keepInDoubt(batch: Int64, since sent: WallTime, doubt: String) async throws {
    try await store.execute(
      "UPDATE batch SET state = 'sending', sent_at = ?, doubt = ? WHERE id = ?", [sent.microseconds, doubt, batch])
  }

  /// Counts trouble, which moves `batch` behind the others.
  /// - Parameters:
  ///   - batch: Its id.
  ///   - isAnswer: Whether it was the answer to the batch itself. Then it counts each time, because the batch may be
  ///     the cause.
  /// - Throws: GRDB's `DatabaseError`
  public func noteTrouble(batch: Int64, isAnswer: Bool) async throws {
    let troubles = isAnswer ? "troubles + 1" : "max(troubles, 1)"
    try await store.execute("UPDATE batch SET troubles = \(troubles) WHERE id = ?", [batch])
  }

  /// Marks `batch` as submitted. Its fences stay stored for export.
  /// - Returns: The fences, and the path of the drive's log, for the second copy; `nil` without a test or without a log.
  /// - Throws: GRDB's `DatabaseError`
  @discardableResult
  public func markSubmitted(batch: Int64, at time: WallTime) async throws -> (fences: AcceptedFences, log: String)? {
    try await store.write { [directory = store.directory] db in
      let accepted = try Self.accepted(batch, at: time, db)
      try db.execute(
        sql: "UPDATE batch SET state = 'submitted', settled_at = ?, reason = NULL WHERE id = ?",
        arguments: [time.microseconds, batch])
      try db.execute(
        // A damaged fence was not in the request.
        sql: "UPDATE fence SET submitted_at = ? WHERE id IN (SELECT id FROM intact_fence WHERE batch_id = ?)",
        arguments: [time.microseconds, batch])
      try BatchTable.nameSession(byTestOf: batch, db)
      try BatchTable.summarise(sessionOf: batch, at: time, db)
      return accepted.map { ($0.fences, directory.driveLog($0.log)) }
    }
  }

  private static func accepted(
    _ batch: Int64, at time: WallTime, _ db: Database
  ) throws -> (fences: AcceptedFences, log: String)? {
    let row = try Row.fetchOne(
      db,
      sql: """
        SELECT batch.test_uuid, batch.anchor_at, drive.log FROM intact_batch AS batch
          JOIN session ON session.id = batch.session_id JOIN intact_drive AS drive ON drive.id = session.drive_id
        WHERE batch.id = ?
        """, arguments: [batch])
    guard let row, let test = row["test_uuid"] as String?, let anchor = row["anchor_at"] as Int64?,
      let log = row["log"] as String?
    else { return nil }
    let numbers = try Int.fetchAll(db, sql: "SELECT number FROM intact_fence WHERE batch_id = ?", arguments: [batch])
    return (
      AcceptedFences(testUUID: test, anchor: WallTime(microseconds: anchor), accepted: time, fences: numbers), log
    )
  }

  /// How many fences of a session the store assigns to each test, in lower case: those that it has as sent, and unsent ones of a batch that
  /// names the test. Damaged fences count; sent ones whose batch is unknown count for the session's test. A test of which sent fences were
  /// deleted is left out (`FenceDeletion`).
  /// - Throws: GRDB's `DatabaseError`
  public func fencesByTest(of session: Int64) async throws -> [String: Int] {
    try await store.read { db in
      let rows = try Row.fetchAll(
        db,
        sql: """
          SELECT lower(coalesce(batch.test_uuid, session.test_uuid)) AS test, count(fence.id) AS fences
          FROM intact_session AS session LEFT JOIN fence ON fence.session_id = session.id AND fence.submitted_at IS NOT NULL
            LEFT JOIN intact_batch AS batch ON batch.id = fence.batch_id
          WHERE session.id = ? GROUP BY test
          UNION ALL SELECT lower(batch.test_uuid), count(*) FROM fence JOIN batch ON batch.id = fence.batch_id
            WHERE fence.session_id = ? AND fence.submitted_at IS NULL AND typeof(batch.test_uuid) = 'text' GROUP BY 1
          UNION ALL SELECT lower(test_uuid), 0 FROM intact_session WHERE id = ?
          """, arguments: [session, session, session])
      let thinned = try Set(
        String.fetchAll(
          db,
          sql:
            "SELECT lower(test_uuid) FROM intact_batch WHERE session_id = ? AND state = 'submitted' AND sent_fences = 0",
          arguments: [session]))
      return rows.reduce(into: [:]) { counts, row in
        if let test = row["test"] as String?, !thinned.contains(test) {
          counts[test, default: 0] += row["fences"] as Int
        }
      }
    }
  }

  /// Marks `batch` as quarantined: refused, or possibly on the server. It stays stored, and is sent again on command only.
  /// - Parameter mayHaveArrived: ``Batch/isQuarantinedInDoubt``.
  /// - Throws: GRDB's `DatabaseError`
  public func quarantine(batch: Batch, reason: String, mayHaveArrived: Bool = false, at time: WallTime) async throws {
    try await store.write { db in
      try BatchTable.quarantine(
        batch.id, session: batch.session, reason, mayHaveArrived: mayHaveArrived, at: time, db)
    }
  }

  /// Splits a refused batch in two, because a single fence may be the cause.
  /// - Returns: The parts, the earlier fences first.
  /// - Throws: GRDB's `DatabaseError`
  public func split(batch: Batch) async throws -> [Batch] {
    try await store.write { db in
      let fences = try Int64.fetchAll(
        db, sql: "SELECT id FROM fence WHERE batch_id = ? ORDER BY entered_at, number", arguments: [batch.id])
      let middle = (fences.count + 1) / 2
      try db.execute(sql: "UPDATE batch SET state = 'replaced' WHERE id = ?", arguments: [batch.id])
      return try [fences[..<middle], fences[middle...]].filter { !$0.isEmpty }.flatMap { half in
        let part = try BatchTable.make(of: half, session: batch.session, troubles: batch.troubles, db)
        return try BatchTable.batches("batch.id = ?", [part], db)
      }
    }
  }

  /// Removes the fences of refused batches from them, so that they are sent again in new ones.
  /// - Throws: GRDB's `DatabaseError`
  public func reopen(batches: [Batch], at time: WallTime) async throws {
    try await store.write { db in
      for batch in batches {
        try db.execute(sql: "UPDATE fence SET batch_id = NULL WHERE batch_id = ?", arguments: [batch.id])
        try db.execute(sql: "UPDATE batch SET state = 'replaced' WHERE id = ?", arguments: [batch.id])
        try BatchTable.summarise(sessionOf: batch.id, at: time, db)
      }
    }
  }
}
