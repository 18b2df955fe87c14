import Coverage
import GRDB

/// The rows of a store in memory that the disk refuses.
struct RowsInMemory: Sendable {
  let store: StoreDatabase

  func insert(_ part: DriveInMemory, sent: [BatchInMemory]) async throws {
    try await store.write { db in
      try db.execute(
        sql: "INSERT INTO drive (id, started_at, log) VALUES (?, ?, ?)",
        arguments: [part.drive, part.started.microseconds, part.log])
    }
    var recorder = DriveRecorder(store, drive: part.drive, started: part.started)
    try recorder.save(
      sessions: part.sessions, fences: part.fences, seen: .start, batches: sent.filter { $0.drive == part.drive })
    try recorder.end(at: part.ended, reason: part.stopReason)
  }

  func batches() async throws -> [BatchInMemory] {
    try await store.read { db in
      // A test that a waiting batch has is not to be asked for again.
      try BatchTable.batches(
        "batch.state IN ('sending', 'submitted', 'quarantined') OR batch.state = 'waiting' AND batch.test_uuid IS NOT NULL",
        [], db
      ).map { batch in
        let row = try Row.fetchOne(
          db,
          sql: """
            SELECT drive_id, number, settled_at, reason FROM batch JOIN session ON session.id = session_id
            WHERE batch.id = ?
            """, arguments: [batch.id])
        return BatchInMemory(
          drive: row?["drive_id"] ?? 0, session: row?["number"] ?? 0,
          fences: try Int.fetchAll(
            db, sql: "SELECT number FROM fence WHERE batch_id = ? ORDER BY number", arguments: [batch.id]),
          batch: batch, settled: (row?["settled_at"] as Int64?).map(WallTime.init(microseconds:)),
          reason: row?["reason"])
      }
    }
  }
}
