import Coverage
import GRDB

/// The batches of a session's fences, each read once: a batch of a thousand fences has one checksum.
struct FenceBatches {
  private let session: StoredSession
  private let statement: Statement
  private var known: [Int64: FenceBatch?] = [:]

  init(of session: StoredSession, _ db: Database) throws {
    self.session = session
    statement = try db.cachedStatement(
      sql: """
        SELECT whole.test_uuid, whole.anchor_at, whole.id IS NOT NULL AS is_intact
        FROM batch LEFT JOIN intact_batch AS whole ON whole.id = batch.id WHERE batch.id = ?
        """)
  }

  /// The batch with this id; `nil` when its row is missing.
  mutating func batch(_ id: Int64) throws -> FenceBatch? {
    if let batch = known[id] { return batch }
    let batch = try Row.fetchOne(statement, arguments: [id]).map(batch)
    known[id] = .some(batch)
    return batch
  }

  private func batch(_ row: Row) -> FenceBatch {
    guard row["is_intact"] else { return FenceBatch(isIntact: false, session: session.withoutTest) }
    let anchor = (row["anchor_at"] as Int64?).map { WallTime(microseconds: $0).since(session.driveStarted) }
    return FenceBatch(isIntact: true, session: session.with(test: row["test_uuid"], anchor: anchor))
  }
}

/// The data of a batch that its fences are exported with.
struct FenceBatch {
  let isIntact: Bool
  /// The session, with the test and the anchor of the batch.
  let session: StoredSession
}
