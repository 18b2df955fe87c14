import Coverage
import GRDB

/// The intact fences of a store that meet conditions, some of one session at a time: oldest session first, the fences of a session in
/// order of entry.
struct FencePages {
  private let reader: StoreReader
  private let conditions: FenceConditions
  private var sessions: ArraySlice<StoredSession> = []
  private var lastSession: Int64?
  private var lastFence: Int64 = .min
  private let size: Size

  /// The most rows of one read.
  struct Size: Sendable {
    var sessions = 200
    var fences = 1000
  }

  init(_ reader: StoreReader, where conditions: FenceConditions, size: Size) {
    (self.reader, self.conditions, self.size) = (reader, conditions, size)
  }

  /// The next fences, of one session; it can be empty. `nil` after the last session.
  mutating func next() throws -> [StoredFence]? {
    if sessions.isEmpty { sessions = try nextSessions()[...] }
    guard let session = sessions.first else { return nil }
    let page = session.isDamaged || !conditions.include(session) ? Page() : try page(of: session)
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
      WHERE session.id > ? AND \(conditions.onSession)
      ORDER BY session.id LIMIT \(size.sessions)
      """, [lastSession ?? .min]
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
      let (sql, arguments) = try conditions.onFence.build(db)
      let statement = try db.cachedStatement(
        sql: """
          SELECT \(StoredFence.columns) FROM main.fence AS fence WHERE session_id = ? AND number > ? AND \(sql)
          ORDER BY number LIMIT \(size.fences)
          """)
      var batches = try FenceBatches(of: session, db)
      var page = Page()
      let rows = try Row.fetchCursor(statement, arguments: [session.id, lastFence] + arguments)
      while let row = try rows.next() {
        page.rows += 1
        page.last = row[Fence.columnOfNumber]
        if let fence = try StoredFence(row: row, session: session, batches: &batches) { page.fences.append(fence) }
      }
      return page
    }
  }
}
