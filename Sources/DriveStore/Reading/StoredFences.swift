import Coverage
import GRDB

/// The intact fences of a store in constant memory: oldest session first, the fences of a session in order of entry.
///
/// They are read in portions, so that no transaction stays open while a slow consumer handles them: the write-ahead
/// log would grow for that long. A fence that ends meanwhile may be included or not; none is included twice.
public struct StoredFences: Sendable {
  private let reader: StoreReader
  private let session: Int64?
  private static let sessionsAtATime = 200
  private static let fencesAtATime = 1000

  /// - Parameters:
  ///   - reader: Reads the store.
  ///   - session: The id of the only session; `nil`: all sessions.
  public init(_ reader: StoreReader, session: Int64? = nil) {
    (self.reader, self.session) = (reader, session)
  }

  /// Calls `body` with each fence.
  /// - Parameter body: Receives the fences; all counts of their sessions are 0.
  /// - Throws: GRDB's `DatabaseError`, and errors of `body`.
  public func forEach(_ body: (StoredFence) throws -> Void) throws {
    var last: Int64 = .min
    while true {
      let sessions = try sessions(after: last)
      for session in sessions where !session.isDamaged { try forEach(of: session, body) }
      guard sessions.count == Self.sessionsAtATime, let end = sessions.last?.id else { return }
      last = end
    }
  }

  private func sessions(after last: Int64) throws -> [StoredSession] {
    try reader.rows(
      """
      SELECT \(StoredSession.columnsWithoutCounts)
      WHERE session.id > :last AND (:session IS NULL OR session.id = :session)
      ORDER BY session.id LIMIT \(Self.sessionsAtATime)
      """, ["last": last, "session": session]
    ).map(StoredSession.init)
  }

  private func forEach(of session: StoredSession, _ body: (StoredFence) throws -> Void) throws {
    var last: Int64 = .min
    while true {
      let page = try page(of: session, after: last)
      try page.fences.forEach(body)
      guard page.isFull else { return }
      last = page.last
    }
  }

  /// A portion of fences; `rows` counts unreadable ones too.
  private struct Page {
    var fences: [StoredFence] = []
    var rows = 0
    var last: Int64 = .min
    var isFull: Bool { rows == StoredFences.fencesAtATime }
  }

  private func page(of session: StoredSession, after last: Int64) throws -> Page {
    guard let database = reader.database else { return Page() }
    return try database.read { db in
      let batches = try Self.batches(of: session, db)
      let statement = try db.cachedStatement(
        sql: """
          SELECT \(StoredFence.columnsWithoutBatch) FROM intact_fence AS fence WHERE session_id = ? AND number > ?
          ORDER BY number LIMIT \(Self.fencesAtATime)
          """)
      var page = Page()
      let rows = try Row.fetchCursor(statement, arguments: [session.id, last])
      while let row = try rows.next() {
        page.rows += 1
        page.last = row[Fence.columnOfNumber]
        if let fence = StoredFence(row: row, session: session, batches: batches) { page.fences.append(fence) }
      }
      return page
    }
  }

  /// Read once for all fences of a session: a batch of a thousand fences has one checksum.
  private static func batches(of session: StoredSession, _ db: Database) throws -> [Int64: FenceBatch] {
    let statement = try db.cachedStatement(
      sql: """
        SELECT batch.id, whole.test_uuid, whole.anchor_at, whole.id IS NOT NULL AS is_intact
        FROM batch LEFT JOIN intact_batch AS whole ON whole.id = batch.id
        WHERE batch.id IN (SELECT batch_id FROM fence WHERE session_id = ?)
        """)
    var batches: [Int64: FenceBatch] = [:]
    let rows = try Row.fetchCursor(statement, arguments: [session.id])
    while let row = try rows.next() {
      let isIntact: Bool = row["is_intact"]
      batches[row["id"]] = FenceBatch(
        isIntact: isIntact,
        session: isIntact
          ? session.with(
            test: row["test_uuid"],
            anchor: (row["anchor_at"] as Int64?).map { WallTime(microseconds: $0).since(session.driveStarted) })
          : session.withoutTest)
    }
    return batches
  }
}
