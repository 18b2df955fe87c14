import Coverage
import GRDB

/// What happens to a batch, written before anybody relies on it.
extension DriveStore {
  /// Gives `batch` the test that the control server made for it.
  /// - Parameter client: The client UUID that asked for the test.
  /// - Throws: ``StoreError/usedTest(_:)``, GRDB's `DatabaseError`
  public func anchor(batch: Int64, test: Batch.Test, loopUUID: String?, client: String) async throws {
    try await keep { db in
      let others = try Int.fetchOne(
        db,
        sql: """
          SELECT (SELECT count(*) FROM batch WHERE test_uuid = :test AND id <> :batch)
            + (SELECT count(*) FROM session WHERE test_uuid = :test AND id <> (SELECT session_id FROM batch WHERE id = :batch))
          """, arguments: ["test": test.uuid, "batch": batch])
      guard others == 0 else { throw StoreError.usedTest(test.uuid) }
      // The session goes by the name of its first test that is of use.
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

  /// Notes that `batch` is about to leave. To be called before its first byte does: then, whatever happens, the next process knows
  /// that the server may have it.
  /// - Parameters:
  ///   - fences: How many are in the body.
  ///   - client: The client UUID that it leaves under; a batch keeps the first one of its test.
  public func beginSending(batch: Int64, fences: Int, client: String, at time: WallTime) async throws {
    try await keep { db in
      try db.execute(
        sql: """
          UPDATE batch SET state = 'sending', attempt = attempt + 1, sent_fences = ?, sent_at = ?,
            client_uuid = coalesce(client_uuid, ?)
          WHERE id = ?
          """, arguments: [fences, time.microseconds, client, batch])
    }
  }

  /// Notes that the server has plainly not taken `batch`: it waits again.
  public func release(batch: Int64) async throws {
    try await keep { db in
      try db.execute(sql: "UPDATE batch SET state = 'waiting' WHERE id = ?", arguments: [batch])
    }
  }

  /// Notes trouble that put `batch` behind the others.
  /// - Parameter isAnswer: Whether it came of sending the batch: then it counts each time, as the batch itself may be the cause.
  public func noteTrouble(batch: Int64, isAnswer: Bool) async throws {
    let troubles = isAnswer ? "troubles + 1" : "max(troubles, 1)"
    try await keep { db in
      try db.execute(sql: "UPDATE batch SET troubles = \(troubles) WHERE id = ?", arguments: [batch])
    }
  }

  /// Notes that the server has `batch`. Its fences stay, for export.
  public func markSubmitted(batch: Int64, at time: WallTime) async throws {
    try await keep { db in
      try db.execute(
        sql: "UPDATE batch SET state = 'submitted', settled_at = ?, reason = NULL WHERE id = ?",
        arguments: [time.microseconds, batch])
      try db.execute(
        // A damaged one was not in it.
        sql: "UPDATE fence SET submitted_at = ? WHERE batch_id = ? AND \(RowChecksum.isIntact("fence"))",
        arguments: [time.microseconds, batch])
      try Self.nameSession(byTestOf: batch, db)
      try Self.summarise(sessionOf: batch, at: time, db)
    }
  }

  /// A session whose own test has nothing, because its batch was split or sent anew, goes by the first test that has fences of it.
  private static func nameSession(byTestOf batch: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE session SET test_uuid = batch.test_uuid, anchor_at = batch.anchor_at, client_uuid = batch.client_uuid FROM batch
        WHERE batch.id = ? AND session.id = batch.session_id AND batch.test_uuid IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM batch AS own WHERE own.test_uuid = session.test_uuid AND own.state = 'submitted')
        """, arguments: [batch])
  }

  /// Notes that the server refuses `batch` for good. It stays, and is sent again on command only.
  public func quarantine(batch: Batch, reason: String, at time: WallTime) async throws {
    try await keep { db in try Self.quarantine(batch.id, session: batch.session, reason, at: time, db) }
  }

  static func quarantine(
    _ batch: Int64, session: Int64, _ reason: String, at time: WallTime, _ db: Database
  ) throws {
    try db.execute(
      sql: "UPDATE batch SET state = 'quarantined', settled_at = ?, reason = ? WHERE id = ?",
      arguments: [time.microseconds, reason, batch])
    try summarise(sessionOf: batch, at: time, db)
  }

  /// Puts the fences of a batch that was refused into two: one of them may be all that is wrong.
  /// - Returns: The parts, the earlier fences first.
  public func split(batch: Batch) async throws -> [Batch] {
    try await keep { db in
      let fences = try Int64.fetchAll(
        db, sql: "SELECT id FROM fence WHERE batch_id = ? ORDER BY entered_at, number", arguments: [batch.id])
      let middle = (fences.count + 1) / 2
      try db.execute(sql: "UPDATE batch SET state = 'replaced' WHERE id = ?", arguments: [batch.id])
      return try [fences[..<middle], fences[middle...]].filter { !$0.isEmpty }.flatMap { half in
        let part = try Self.makeBatch(of: half, session: batch.session, troubles: batch.troubles, db)
        return try Self.batches("batch.id = ?", [part], db)
      }
    }
  }

  /// Takes what was refused out of its batches, so that it is sent again.
  public func reopen(batches: [Batch], at time: WallTime) async throws {
    try await keep { db in
      for batch in batches {
        try db.execute(sql: "UPDATE fence SET batch_id = NULL WHERE batch_id = ?", arguments: [batch.id])
        try db.execute(sql: "UPDATE batch SET state = 'replaced' WHERE id = ?", arguments: [batch.id])
        try Self.summarise(sessionOf: batch.id, at: time, db)
      }
    }
  }

  private static func summarise(sessionOf batch: Int64, at time: WallTime, _ db: Database) throws {
    let session = try Int64.fetchOne(db, sql: "SELECT session_id FROM batch WHERE id = ?", arguments: [batch])
    if let session { try summarise(session: session, at: time, db) }
  }

  /// What its batches and fences say about a session, written to its row.
  /// - Parameter time: When it was sent, if it now is.
  static func summarise(session: Int64, at time: WallTime, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE session SET
          submitted_at = iif(EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submitted_at IS NOT NULL
              AND \(RowChecksum.isIntact("fence")))
            AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submittable AND submitted_at IS NULL
              AND \(RowChecksum.isIntact("fence"))),
            ?, NULL),
          quarantined_at = (
            SELECT min(settled_at) FROM batch WHERE session_id = session.id AND state = 'quarantined'),
          quarantine_reason = (
            SELECT reason FROM batch WHERE session_id = session.id AND state = 'quarantined' ORDER BY id LIMIT 1)
        WHERE id = ?
        """, arguments: [time.microseconds, session])
  }
}
