import Coverage
import GRDB

/// The batches of the store: what is to be sent, is on its way, was sent or refused. Each step is on the disk before anything relies on it.
public struct Outbox: Sendable {
  let store: StoreDatabase

  // MARK: What there is

  /// The batches of `sessions` in one of these states.
  public func batches(of sessions: [Int64], in states: [Batch.State]) async throws -> [Batch] {
    try await store.read { db in
      try sessions.flatMap { try BatchTable.batches("batch.session_id = ?", [$0], db) }
    }.filter { states.contains($0.state) }
  }

  /// The tests of which it is known what they were used for: those of batches, damaged or not, and of sessions of which something is
  /// sent. In lower case.
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

  /// Puts all fences of `sessions` that are to be sent, and are in no batch yet, into batches.
  ///
  /// The first one of a session gets the session's own test, where it has one that no batch has used. Rows whose position cannot
  /// be are quarantined here: nobody could use them.
  /// - Parameter limit: The most fences of a batch.
  /// - Throws: GRDB's `DatabaseError`
  public func makeBatches(of sessions: [Int64], limit: Int, at time: WallTime) async throws {
    try await store.write { db in
      for session in sessions {
        let fences = try Row.fetchAll(
          db,
          sql: """
            SELECT id, abs(latitude) <= 90 AND abs(longitude) <= 180 AS is_on_earth FROM intact_fence
            WHERE session_id = ? AND batch_id IS NULL AND submitted_at IS NULL AND submittable AND exited_at IS NOT NULL
            ORDER BY entered_at, number
            """, arguments: [session])
        var good = fences.filter { $0["is_on_earth"] }.map { $0["id"] as Int64 }[...]
        while !good.isEmpty {
          let batch = try BatchTable.make(of: good.prefix(limit), session: session, db)
          try BatchTable.useSessionsTest(for: batch, db)
          good = good.dropFirst(limit)
        }
        let damaged = fences.filter { !$0["is_on_earth"] }.map { $0["id"] as Int64 }
        if !damaged.isEmpty {
          let batch = try BatchTable.make(of: damaged[...], session: session, db)
          try BatchTable.quarantine(batch, session: session, "its position is damaged in the store", at: time, db)
        }
      }
    }
  }

  // MARK: What happens to a batch

  /// Gives `batch` the test that the control server made for it.
  /// - Parameter client: The client UUID that asked for the test.
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
    try await store.write { db in
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
    try await store.write { db in
      try db.execute(sql: "UPDATE batch SET state = 'waiting' WHERE id = ?", arguments: [batch])
    }
  }

  /// Notes trouble that put `batch` behind the others.
  /// - Parameter isAnswer: Whether it came of sending the batch: then it counts each time, as the batch itself may be the cause.
  public func noteTrouble(batch: Int64, isAnswer: Bool) async throws {
    let troubles = isAnswer ? "troubles + 1" : "max(troubles, 1)"
    try await store.write { db in
      try db.execute(sql: "UPDATE batch SET troubles = \(troubles) WHERE id = ?", arguments: [batch])
    }
  }

  /// Notes that the server has `batch`. Its fences stay, for export.
  public func markSubmitted(batch: Int64, at time: WallTime) async throws {
    try await store.write { db in
      try db.execute(
        sql: "UPDATE batch SET state = 'submitted', settled_at = ?, reason = NULL WHERE id = ?",
        arguments: [time.microseconds, batch])
      try db.execute(
        // A damaged one was not in it.
        sql: "UPDATE fence SET submitted_at = ? WHERE id IN (SELECT id FROM intact_fence WHERE batch_id = ?)",
        arguments: [time.microseconds, batch])
      try BatchTable.nameSession(byTestOf: batch, db)
      try BatchTable.summarise(sessionOf: batch, at: time, db)
    }
  }

  /// Notes that the server refuses `batch` for good. It stays, and is sent again on command only.
  public func quarantine(batch: Batch, reason: String, at time: WallTime) async throws {
    try await store.write { db in try BatchTable.quarantine(batch.id, session: batch.session, reason, at: time, db) }
  }

  /// Puts the fences of a batch that was refused into two: one of them may be all that is wrong.
  /// - Returns: The parts, the earlier fences first.
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

  /// Takes what was refused out of its batches, so that it is sent again.
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
