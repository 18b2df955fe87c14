import Foundation
import GRDB
import GRDBSQLite

/// The open store of a state directory in its one writing process: the connections and the writer lock.
///
/// Every type that reads or writes rows shares this value; the lock is released with the last of them.
final class StoreDatabase: @unchecked Sendable {
  /// Opens the store, and repairs it if it is damaged. Calls `onChecked` once losses are noted, before SQLite opens it.
  typealias Opening = @Sendable (OpeningReason, _ onChecked: () -> Void) throws -> OpeningResult

  let directory: StateDirectory
  /// Distinguishes this process's rows from those of an earlier process.
  let writer = UUID().uuidString
  /// Must be released before the writer, so that the writer can remove the write-ahead log.
  private let side: SideReader
  /// For the one read that is not short: that of the whole file.
  private let checker: SideReader
  private let open: Opening
  private let access = NSLock()
  private var checkpoints = CheckpointSchedule(startingAt: .now)
  private var current: OpeningResult
  private var wasReadLater = false
  /// Must be released after the writer: until then SQLite may copy the write-ahead log. `nil` for a store in memory.
  private let lock: WriterLock?

  /// - Parameters:
  ///   - directory: The state directory.
  ///   - purpose: Names this process to others that find the store in use.
  ///   - connect: Opens a read-only connection.
  ///   - open: Opens the store.
  /// - Throws: ``StoreError``
  init(
    _ directory: StateDirectory, purpose: String, connect: @escaping SideReader.Connecting, open: @escaping Opening
  ) throws {
    self.directory = directory
    self.open = open
    side = SideReader("reader", connect: connect)
    checker = SideReader("check", connect: connect)
    let lock = try WriterLock(directory, purpose: purpose)
    self.lock = lock
    do {
      current = try open(lock.isAfterUncleanEnd ? .startAfterUncleanEnd : .start) { lock.noteOpeningStore() }
    } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
    lock.noteOpenStore()
  }

  /// A store in memory, which ends with this value.
  init(inMemory opened: OpeningResult) {
    (directory, lock, current) = (.nowhere, nil, opened)
    open = { _, _ in throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a store in memory is not repaired") }
    side = SideReader("memory") { nil }
    checker = SideReader("memory") { nil }
  }

  deinit { lock?.noteClosedStore() }

  /// The writing connection; ``reopen()`` replaces it.
  var queue: DatabaseQueue { access.withLock { current.queue } }

  /// Whether all of the file was read and found intact.
  var isRead: Bool { access.withLock { current.isRead } }

  /// Whether the start has read all of the file, or a repair since then.
  var isReadAtStart: Bool { access.withLock { current.isRead && !wasReadLater } }

  /// Closes the store and opens it again, as at a start. Concurrent reads and writes fail.
  /// - Throws: ``StoreError``
  func reopen() throws {
    do {
      try side.whileClosed {
        try checker.whileClosed {
          try access.withLock {
            try current.queue.close()
            (current, wasReadLater) = (try open(.repair) {}, false)
          }
        }
      }
    } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
  }

  /// Runs `body` beside the writer: a read of any length delays no fence. It sees everything written before the call.
  /// The store can change before its result is used: a write that depends on it has to read again.
  func read<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
    try await withSideConnection { try $0.read(body) }
  }

  /// Runs `body` with the connection for reads beside the writer, for several transactions one after the other.
  func withSideConnection<Result: Sendable>(
    _ body: @escaping @Sendable (DatabaseQueue) throws -> Result
  ) async throws -> Result {
    try await side.read(or: queue, body)
  }

  /// Runs `check` with a connection of its own, unless all of the file was read already: no read and no fence waits for
  /// it. A repair and the cancellation of the task end it.
  /// - Throws: GRDB's `DatabaseError` for damage, `CancellationError`
  func readWhole(by check: @escaping @Sendable (DatabaseQueue) throws -> Void) async throws {
    guard !isRead else { return }
    // The cancellation can come before the read has begun, which an interruption would not reach.
    let cancellation = ReadInterruption()
    do {
      try await withTaskCancellationHandler {
        try await checker.read(or: queue) { queue in
          if cancellation.isAsked { throw CancellationError() }
          try check(queue)
        }
      } onCancel: {
        cancellation.ask()
        checker.interrupt()
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
      try Task.checkCancellation()
      // A repair has read it.
      guard isRead else { throw error }
    }
    // Its cache is used once.
    checker.whileClosed {}
    access.withLock { (current.isRead, wasReadLater) = (true, true) }
  }

  /// Ends the read beside the writer that runs now; it fails.
  func interruptReads() { side.interrupt() }

  /// Runs `body` on the writing connection, without a transaction that writes: for a few rows that an index finds,
  /// which must not wait for a long read. A fence that is written meanwhile waits for it. The cancellation of the calling task does not
  /// end it: GRDB would interrupt it, at its very end too (``ReadInterruption``).
  func readAmongWrites<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result
  {
    try await Task { [queue] in try await queue.read(body) }.value
  }

  /// Runs `body` in a transaction, even if the calling task was cancelled meanwhile: an answer of the server must not
  /// be lost.
  func write<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
    let queue = queue
    do { return try await Task { try await queue.write(body) }.value } catch let error as DatabaseError {
      throw error.explained(by: queue)
    }
  }

  /// Runs statements in a transaction of their own.
  func execute(_ sql: String, _ arguments: StatementArguments = []) async throws {
    try await write { try $0.execute(sql: sql, arguments: arguments) }
  }

  /// ``write(_:)`` on the calling thread, which waits for the disk.
  func writeNow<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let queue = queue
    do { return try queue.write(body) } catch let error as DatabaseError { throw error.explained(by: queue) }
  }

  /// Copies the write-ahead log into the store if the last copy is old enough, so that damage to the log costs
  /// minutes and not hours.
  /// - Throws: GRDB's `DatabaseError` for a damaged file. Other errors are ignored: the log is intact, and the next
  ///   call tries again.
  func checkpointIfDue() throws {
    guard access.withLock({ checkpoints.isDue(at: .now) }) else { return }
    do {
      try queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    } catch let error where !StoreError.isDamage(error) {}
  }
}

/// Decides when the write-ahead log is copied into the store. SQLite's own rule counts pages: at a device's rate the
/// log would contain hours of data.
struct CheckpointSchedule {
  /// About ten pages are copied each time; about 150 are written to the log between two copies.
  private static let interval = Duration.seconds(120)
  private var last: ContinuousClock.Instant

  init(startingAt now: ContinuousClock.Instant) { last = now }

  /// Whether the last copy is old enough; then the next one is due an interval after `now`.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    guard now - last >= Self.interval else { return false }
    last = now
    return true
  }
}

extension DatabaseError {
  /// The same error with the kernel's reason: SQLite says "disk I/O error" for a read-only disk, a used quota and a failing disk alike.
  /// - Parameter queue: The connection that failed.
  func explained(by queue: DatabaseQueue) -> DatabaseError {
    guard resultCode == .SQLITE_IOERR || resultCode == .SQLITE_READONLY || resultCode == .SQLITE_CANTOPEN else {
      return self
    }
    let code =
      resultCode == .SQLITE_IOERR ? queue.inDatabase(\.latestErrno) : DiskState.isReadOnly(queue.path) ? EROFS : 0
    let result: ResultCode? =
      switch code {
      case 0: nil
      case EROFS: .SQLITE_READONLY
      case ENOSPC, EDQUOT: .SQLITE_FULL
      default: extendedResultCode
      }
    return result.map { DatabaseError(resultCode: $0, message: StoreError.words(code), sql: sql) } ?? self
  }
}

extension Database {
  /// Whether there is a row.
  /// - Parameter rows: What follows `FROM`, e.g. `fence WHERE id = ?`.
  func has(_ rows: String, _ arguments: StatementArguments = []) throws -> Bool {
    try Bool.fetchOne(self, sql: "SELECT EXISTS (SELECT 1 FROM \(rows))", arguments: arguments) ?? false
  }

  /// The id of a drive's session.
  func session(of drive: Int64, number: Int) throws -> Int64? {
    try Int64.fetchOne(
      self, sql: "SELECT id FROM session WHERE drive_id = ? AND number = ?", arguments: [drive, number])
  }

  /// The `errno` of the last failure on the write-ahead log, or else on the database file; 0 when it is unknown.
  fileprivate var latestErrno: CInt {
    var log: UnsafeMutablePointer<sqlite3_file>?
    var code: CInt = 0
    if sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK, let log {
      _ = log.pointee.pMethods?.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &code)
    }
    if code == 0 { sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_LAST_ERRNO, &code) }
    return code
  }
}
