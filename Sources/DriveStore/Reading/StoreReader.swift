import Coverage
import Foundation
import GRDB

/// Reads a state directory, beside whoever writes to it; never writes, never checkpoints.
public struct StoreReader: Sendable {
  let database: DatabaseQueue?
  private let directory: StateDirectory?

  /// - Throws: ``StoreError``; a directory in which nothing was ever recorded reads as empty.
  public init(directory: StateDirectory) throws {
    self.directory = directory
    guard access(directory.path, R_OK | X_OK) == 0 else {
      throw StoreError.unusableDirectory(path: directory.path, reason: String(cString: strerror(errno)))
    }
    guard FileManager.default.fileExists(atPath: directory.database) else {
      database = nil
      return
    }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.label = "StoreReader"
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase(IntactRows.makeViews)
    do {
      let database = try DatabaseQueue(path: directory.database, configuration: configuration)
      let migrator = Schema.migrator
      let (applied, isComplete) = try database.read { db in
        (try migrator.appliedIdentifiers(db), try migrator.hasCompletedMigrations(db))
      }
      guard isComplete || applied.isEmpty else {
        throw StoreError.unusable(
          path: directory.database, reason: "another version made it; coverage-probe submit brings it up to date")
      }
      // A writer is just making it.
      guard isComplete else {
        self.database = nil
        return
      }
      self.database = database
    } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
  }

  /// Reads through the connection of a writer.
  init(_ database: DatabaseQueue) {
    self.database = database
    directory = nil
  }

  /// Whether a process is writing to the directory.
  public var isWriterAlive: Bool { directory.map(WriterLock.isHeld) ?? true }

  /// All sessions, oldest first.
  public func sessions() throws -> [StoredSession] {
    try rows(
      "SELECT \(StoredSession.columns) GROUP BY session.id ORDER BY session.id"
    ).map(StoredSession.init)
  }

  /// Sessions with fences that may be sent and that the server does not have, oldest first: few, however many a store keeps.
  /// - Parameter running: The first of the drives that are being recorded: they are left out.
  public func unsentSessions(except running: Int64? = nil) throws -> [StoredSession] {
    try rows(
      """
      SELECT \(StoredSession.columns)
      WHERE session.drive_id < ? AND EXISTS (
        SELECT 1 FROM fence AS unsent
        WHERE unsent.session_id = session.id AND submitted_at IS NULL AND (submittable OR batch_id IS NOT NULL))
      GROUP BY session.id ORDER BY session.id
      """, [running ?? .max]
    ).map(StoredSession.init)
  }

  /// How many fences of drives that are being recorded will be sent.
  /// - Parameter running: The first of these drives.
  public func fencesToSend(fromDrive running: Int64) throws -> Int {
    try rows(
      """
      SELECT count(*) AS fences FROM readable_fence AS fence LEFT JOIN batch ON batch.id = batch_id
      WHERE drive_id >= ? AND submittable AND submitted_at IS NULL AND batch.state IS NOT 'quarantined'
      """, [running]
    ).first?["fences"] ?? 0
  }

  /// The session with that id, if there is one.
  public func session(id: Int64) throws -> StoredSession? {
    try rows(
      "SELECT \(StoredSession.columns) WHERE session.id = ? GROUP BY session.id", [id]
    ).first.map(StoredSession.init)
  }

  /// The fences of `session` in order of entry, without damaged ones; none of a damaged session.
  public func fences(of session: StoredSession) throws -> [StoredFence] {
    guard !session.isDamaged else { return [] }
    return try rows(
      """
      SELECT \(StoredFence.columns) WHERE fence.session_id = ?
      ORDER BY number
      """, [session.id]
    ).compactMap { StoredFence(row: $0, session: session) }
  }

  /// The fences of `batch` that go to the server, in order of entry: without damaged ones, and never one that the server has.
  public func fences(of batch: Batch) throws -> [Fence] {
    try rows(
      """
      SELECT session.number, \(Fence.columns) FROM intact_fence AS fence JOIN session ON session.id = session_id
      WHERE batch_id = ? AND fence.submitted_at IS NULL ORDER BY entered_at, fence.number
      """, [batch.id]
    ).compactMap { row in
      var columns = ColumnReader(row)
      let session: Int = columns.next()
      return Fence(&columns, driveStarted: batch.driveStarted, session: session)
    }
  }

  /// The circuit breaker for the server at `url`, in its own words; `nil` when it was never needed, or is damaged.
  public func breakerMemory(at url: String) throws -> String? {
    try rows(
      "SELECT memory FROM intact_breaker WHERE control_server = ?", [ServerKey.of(url)]
    ).first?["memory"]
  }

  /// Fences whose session is missing.
  /// - Parameter running: The first of the drives that are being recorded; their fences do not count.
  public func orphans(except running: Int64? = nil) throws -> Int {
    try rows(
      """
      SELECT count(*) AS fences FROM intact_fence
      WHERE session_id IN (SELECT id FROM session_of_fences WHERE id NOT IN (SELECT id FROM session)) AND drive_id < ?
      """, [running ?? .max]
    ).first?["fences"] ?? 0
  }

  /// Rows, of whatever kind, that are not as they were written. What they say is neither sent nor exported.
  public func damagedRows() throws -> Int {
    try RowChecksum.tables.reduce(0) { count, table in
      count
        + (try rows("SELECT count(*) AS rows FROM damaged_\(table.name)").first?["rows"] ?? 0)
    }
  }

  func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
    guard let database else { return [] }
    return try database.read { db in try Row.fetchAll(db, sql: sql, arguments: arguments) }
  }
}
