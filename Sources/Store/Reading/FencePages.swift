import Coverage
import GRDB

/// The intact fences of a store, some of one session at a time: oldest session first, the fences of a session in order of entry.
struct FencePages {
  private let reader: StoreReader
  private let only: Int64?
  private var sessions: ArraySlice<StoredSession> = []
  private var lastSession: Int64?
  private var lastFence: Int64 = .min
  private let size: Size

  /// The most rows of one read.
  struct Size: Sendable {
    var sessions = 200
    var fences = 1000
  }

  /// - Parameters:
  ///   - reader: Reads the store.
  ///   - session: The id of the only session; `nil`: all sessions.
  init(_ reader: StoreReader, session: Int64?, size: Size) {
    (self.reader, only, self.size) = (reader, session, size)
  }

  /// The next fences, of one session; it can be empty. `nil` after the last session.
  /// - Throws: GRDB's `DatabaseError`.
  mutating func next() throws -> [StoredFence]? {
    if sessions.isEmpty { sessions = try nextSessions()[...] }
    guard let session = sessions.first else { return nil }
    let page = session.isDamaged ? Page() : try page(of: session)
    if page.rows == size.fences {
      lastFence = page.last
    } else {
      sessions.removeFirst()
      (lastSession, lastFence) = (session.id, .min)
    }
    return page.fences
  }

  private func nextSessions() throws -> [StoredSession] {
    try reader.rows(
      """
      SELECT \(StoredSession.columnsWithoutCounts)
      WHERE session.id > :last AND (:session IS NULL OR session.id = :session)
      ORDER BY session.id LIMIT \(size.sessions)
      """, ["last": lastSession ?? .min, "session": only]
    ).map(StoredSession.init)
  }

  /// `rows` counts unreadable fences too.
  private struct Page {
    var fences: [StoredFence] = []
    var rows = 0
    var last: Int64 = .min
  }

  private func page(of session: StoredSession) throws -> Page {
    guard let database = reader.database else { return Page() }
    return try database.read { db in
      let statement = try db.cachedStatement(
        sql: """
          SELECT \(StoredFence.columnsWithoutBatch) FROM intact_fence AS fence WHERE session_id = ? AND number > ?
          ORDER BY number LIMIT \(size.fences)
          """)
      var batches = try FenceBatches(of: session, db)
      var page = Page()
      let rows = try Row.fetchCursor(statement, arguments: [session.id, lastFence])
      while let row = try rows.next() {
        page.rows += 1
        page.last = row[Fence.columnOfNumber]
        if let fence = try StoredFence(row: row, session: session, batches: &batches) { page.fences.append(fence) }
      }
      return page
    }
  }
}
