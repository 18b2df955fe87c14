import Coverage
import Foundation
import GRDB

/// Reads a state directory beside its writer; never writes or checkpoints.
public struct StoreReader: Sendable {
  let database: DatabaseQueue?
  let directory: StateDirectory?
  /// The greatest file of which a list of all sessions reads each fence.
  var readForListing = LargeStore.bytes

  /// Opens the store read-only. A directory without a store reads as empty.
  /// - Throws: ``StoreError``
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
    do {
      let medium = ReadOnlyMedium(holding: directory.database, isWriterAlive: WriterLock.isHeld(directory))
      configuration.prepareDatabase { db in
        if let pragma = medium?.pragma { try db.execute(sql: pragma) }
        try IntactRows.makeViews(db)
      }
      let database = try DatabaseQueue(path: medium?.address ?? directory.database, configuration: configuration)
      let migrator = Schema.migrator
      let (applied, isComplete) = try database.read { db in
        try Schema.checkMigrationList(db)
        return (try migrator.appliedIdentifiers(db), try migrator.hasCompletedMigrations(db))
      }
      guard isComplete || applied.isEmpty else {
        throw StoreError.unusable(
          path: directory.database, reason: "another version made it; coverage-probe submit brings it up to date")
      }
      // A writer is creating it.
      guard isComplete else {
        self.database = nil
        return
      }
      self.database = database
    } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
  }

  /// Reads through a connection of the writing process.
  init(_ database: DatabaseQueue) {
    self.database = database
    directory = nil
  }

  /// The connection, for reads beside the writer of this process; `nil` when there is no complete store.
  ///
  /// Its cache is small: most reads go once through the store, and what the writer needs is in the writer's own cache.
  func besideWriter() throws -> DatabaseQueue? {
    try database?.read { try $0.execute(sql: "PRAGMA cache_size = -512") }
    return database
  }

  /// Whether a process is writing to the directory.
  public var isWriterAlive: Bool { directory.map(WriterLock.isHeld) ?? true }

  /// All sessions, oldest first. In a large store, the fences that the server has are counted and not read.
  /// - Throws: GRDB's `DatabaseError`, as all functions of this type.
  public func sessions() throws -> [StoredSession] {
    let isLarge = try bytes > readForListing
    let columns = isLarge ? StoredSession.columnsWithSentCounted : StoredSession.columns
    return try rows("SELECT \(columns) GROUP BY session.id ORDER BY session.id").map(StoredSession.init)
  }

  /// The identity of the store; `nil` when there is no store.
  public func identity() throws -> StoreIdentity? {
    let row = try rows(
      """
      SELECT uuid, (SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'fence') AS last_fence FROM intact_identity
      """
    ).first
    return row.map { StoreIdentity(uuid: $0["uuid"], lastFence: $0["last_fence"]) }
  }

  /// The client UUID from the control server at `url`; `nil` when there is none, or it is damaged.
  public func clientUUID(at url: String) throws -> String? {
    try value("SELECT client_uuid FROM intact_registration WHERE control_server = ?", [ServerKey.of(url)])
  }

  /// The size of the store, with its write-ahead log.
  private var bytes: Int64 {
    get throws { try value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0 }
  }

  /// Reads all pages, as a start does; those of a large store are left to the first pass of a process.
  /// - Returns: Whether it read them.
  public func checkPages() throws -> Bool {
    guard let database else { return true }
    guard try bytes <= LargeStore.bytes else { return false }
    try database.read(StoreFile.checkIntegrity)
    return true
  }

  /// Sessions with fences that may be sent and are not on the server, oldest first. An index finds them, and their
  /// fences are counted already (``UnsentCounts``): the cost grows neither with the store nor with the fences that wait.
  /// Damaged fences are included, and others are not counted.
  /// - Parameter running: The lowest id of the running drives, which are omitted.
  public func unsentSessions(except running: Int64? = nil) throws -> [StoredSession] {
    try rows(
      """
      SELECT \(StoredSession.columnsWithUnsentCounted)
      WHERE session.id IN (SELECT id FROM session_of_unsent_fences) AND session.drive_id < ?
      ORDER BY session.id
      """, [running ?? .max]
    ).map(StoredSession.init)
  }

  /// The number of sessions of drives with a target of their own; they are never sent.
  /// - Throws: GRDB's `DatabaseError`
  public func keptSessions() throws -> Int {
    try value(
      "SELECT count(*) FROM session WHERE drive_id IN (SELECT id FROM intact_drive WHERE target IS NOT NULL)") ?? 0
  }

  /// The number of fences of running drives that will be sent.
  /// - Parameter running: The lowest id of these drives.
  public func fencesToSend(fromDrive running: Int64) throws -> Int {
    try value(
      """
      SELECT CAST(total(waiting) AS INTEGER)
      FROM session JOIN \(UnsentCounts.bySession) AS counts ON counts.session_id = session.id WHERE drive_id >= ?
      """, [running]
    ) ?? 0
  }

  /// The session with this id; `nil` when there is none.
  public func session(id: Int64) throws -> StoredSession? {
    try rows(
      "SELECT \(StoredSession.columns) WHERE session.id = ? GROUP BY session.id", [id]
    ).first.map(StoredSession.init)
  }

  /// The intact fences of `session` in order of entry; none if the session is damaged.
  public func fences(of session: StoredSession) throws -> [StoredFence] {
    try fences(of: session, "session_id = ? ORDER BY number", [session.id])
  }

  /// Those that meet a condition.
  func fences(
    of session: StoredSession, _ condition: String, _ arguments: StatementArguments
  ) throws -> [StoredFence] {
    guard let database, !session.isDamaged else { return [] }
    return try database.read { db in
      var batches = try FenceBatches(of: session, db)
      let sql = "SELECT \(StoredFence.columns) FROM readable_fence AS fence WHERE \(condition)"
      return try Row.fetchAll(db, sql: sql, arguments: arguments)
        .compactMap { try StoredFence(row: $0, session: session, batches: &batches) }
    }
  }

  /// The intact fence with this id.
  func fence(id: Int64) throws -> StoredFence? {
    let session = try rows(
      "SELECT \(StoredSession.columnsWithoutCounts) WHERE session.id = (SELECT session_id FROM fence WHERE id = ?)",
      [id]
    ).first.map(StoredSession.init)
    return try session.flatMap { try fences(of: $0, "id = ?", [id]).first }
  }

  /// The intact fence before another one in its drive; all counts of its session are 0.
  /// - Parameter id: That of the other one.
  public func fence(before id: Int64) throws -> StoredFence? {
    let former: Int64? = try value(
      """
      SELECT former.id FROM fence JOIN fence AS former ON former.drive_id = fence.drive_id AND former.number = fence.number - 1
      WHERE fence.id = ?
      """, [id])
    return try former.flatMap(fence(id:))
  }

  /// The fences of `batch` to send, in order of entry: intact, and not on the server yet.
  public func fences(of batch: Batch) throws -> [Fence] {
    try rows(
      """
      SELECT session.number, \(Fence.columns) FROM intact_fence AS fence JOIN intact_session AS session ON session.id = session_id
      WHERE batch_id = ? AND fence.submitted_at IS NULL ORDER BY entered_at, fence.number
      """, [batch.id]
    ).compactMap { row in
      var columns = ColumnReader(row)
      let session: Int = columns.next()
      return Fence(&columns, driveStarted: batch.driveStarted, session: session)
    }
  }

  /// What a result says of the session of `batch`: the address of this host from which its pings left, and why its drive ended, as it is
  /// stored. That is `nil` unless it is the drive's last session: others end while the drive goes on.
  public func session(of batch: Batch) throws -> (localAddress: String?, stopReason: String?) {
    let row = try rows(
      """
      SELECT local_address,
        (SELECT stop_reason FROM intact_drive AS drive WHERE drive.id = drive_id AND NOT EXISTS
          (SELECT 1 FROM session AS later WHERE later.drive_id = drive.id AND later.number > session.number)) AS stop_reason
      FROM intact_session AS session WHERE id = ?
      """, [batch.session]
    ).first
    return (row?["local_address"], row?["stop_reason"])
  }

  /// The stored state of the gate for the server at `url`, as JSON; `nil` when there is none, or it is damaged.
  public func gateMemory(at url: String) throws -> String? {
    try value("SELECT memory FROM intact_breaker WHERE control_server = ?", [ServerKey.of(url)])
  }

  /// The number of fences whose session is missing.
  /// - Parameter running: The lowest id of the running drives, whose fences are not counted.
  public func orphans(except running: Int64? = nil) throws -> Int {
    try value(
      """
      SELECT count(*) FROM intact_fence
      WHERE session_id IN (SELECT id FROM session_of_fences WHERE id NOT IN (SELECT id FROM session)) AND drive_id < ?
      """, [running ?? .max]
    ) ?? 0
  }

  /// The number of unsent fences whose session is missing. The time does not grow with the number of sent fences.
  /// - Parameter running: The lowest id of the running drives, whose fences are not counted.
  func unsentOrphans(except running: Int64? = nil) throws -> Int {
    try value(
      """
      SELECT count(*) FROM intact_fence
      WHERE session_id IN (SELECT id FROM session_of_unsent_fences WHERE id NOT IN (SELECT id FROM session))
        AND submitted_at IS NULL AND submittable AND drive_id < ?
      """, [running ?? .max]
    ) ?? 0
  }

  /// The number of damaged rows in all tables. Their values are neither sent nor exported.
  public func damagedRows() throws -> Int {
    try RowChecksum.tables.reduce(0) { count, table in
      count + (try value("SELECT count(*) FROM \(table.name) WHERE \(RowChecksum.isDamaged(table.name))") ?? 0)
    }
  }

  func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
    guard let database else { return [] }
    return try database.read { db in try Row.fetchAll(db, sql: sql, arguments: arguments) }
  }

  /// The first column of the first row; `nil` when it is NULL, or there is no row.
  func value<Value: DatabaseValueConvertible>(_ sql: String, _ arguments: StatementArguments = []) throws -> Value? {
    try rows(sql, arguments).first.flatMap { $0[0] as Value? }
  }
}

extension StoreReader {
  /// The speed tests, oldest first. Damaged ones are left out.
  /// - Throws: GRDB's `DatabaseError`
  public func speedTests() throws -> [StoredSpeedTest] {
    try rows("SELECT \(StoredSpeedTest.columns) FROM intact_speed_test ORDER BY id").compactMap(StoredSpeedTest.init)
  }

  /// The number of speed tests that have ended and are not on a server.
  /// - Throws: GRDB's `DatabaseError`
  public func unsentSpeedTests() throws -> Int {
    try value("SELECT count(*) FROM intact_speed_test WHERE state IN ('waiting', 'sending')") ?? 0
  }
}

/// How a store is opened that no process changes: its file system is mounted read-only, or its log is missing and it has no writer. SQLite would
/// create an empty log, and the next start would take the store for whole.
///
/// SQLite reads a store in WAL mode only where the log and its index (`-wal`, `-shm`) are there or can be created. A store that was closed
/// in order has neither.
struct ReadOnlyMedium: Hashable, Sendable {
  /// The database as SQLite's URI. Debian's SQLite accepts URIs in place of paths (`SQLITE_USE_URI`).
  let address: String
  /// To run before the first read.
  let pragma: String?

  /// - Parameter path: The path of the database.
  /// - Returns: `nil` when the store is opened as on any other medium.
  init?(holding path: String, isWriterAlive: Bool) {
    let log = RawFile(path + "-wal")
    guard DiskState.isReadOnly(path) || !log.exists && !isWriterAlive else { return nil }
    if log.exists, access(path + "-shm", R_OK) == 0 { return nil }
    // With `immutable`, SQLite ignores the log, and the rows in it would be missing. Without locks and with exclusive access, it reads the
    // log and keeps the index in memory.
    let isLogged = log.bytes > 0
    // Everything except ASCII letters, digits and slashes is percent-encoded.
    let escaped = path.addingPercentEncoding(
      withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "/")))
    address = "file:\(escaped ?? path)?\(isLogged ? "vfs=unix-none" : "immutable=1")"
    pragma = isLogged ? "PRAGMA locking_mode = EXCLUSIVE" : nil
  }
}

/// What tells one store from another: ids of drives, sessions and fences are unique with it only.
public struct StoreIdentity: Hashable, Sendable {
  /// A UUID that was made with the store.
  public let uuid: String
  /// The greatest id that the store has given a fence; 0 before the first one.
  public let lastFence: Int64

  public init(uuid: String, lastFence: Int64) { (self.uuid, self.lastFence) = (uuid, lastFence) }

  /// The pseudonym of a SIM in this store: the first 16 hexadecimal digits of the SHA-256 of identity and number (ICCID), with a colon
  /// between. The same SIM has another one in another store. It hides the number from a reader, but not from somebody who has the
  /// identity and tries all numbers: an ICCID has few unknown digits.
  public func pseudonym(ofSIM number: String) -> String? {
    let digest = StreamedDigest()
    digest.add(Array("\(uuid):\(number)".utf8))
    let text = digest.hexadecimal()
    return text.isEmpty ? nil : String(text.prefix(16))
  }
}
