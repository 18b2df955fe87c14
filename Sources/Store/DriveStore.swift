import Coverage
import Dispatch
import GRDB

/// The store of a state directory, for its one writing process.
///
/// When a call returns, its change is durable: WAL with `synchronous=FULL`, both read back when the store is opened;
/// one writing connection in the process, one writing process in the directory. What reads or writes rows throws GRDB's `DatabaseError`, beside
/// the errors that it names.
public final class DriveStore: Sendable {
  let store: StoreDatabase
  public let inspection: RowInspection
  var database: DatabaseQueue { store.queue }

  /// Opens the store; creates or migrates it if needed, and salvages a damaged one.
  /// - Parameters:
  ///   - directory: The state directory; created if it is missing.
  ///   - purpose: Names this process to others that find the store in use, e.g. `coverage-probe record`.
  ///   - report: Receives the result of salvaging a damaged store, now or in ``repair()``.
  /// - Throws: ``StoreError``
  public convenience init(
    directory: StateDirectory, purpose: String, report: @escaping @Sendable (Salvage) -> Void = { _ in }
  ) throws {
    try self.init(StoreFile(directory: directory, report: report), purpose: purpose)
  }

  init(_ file: StoreFile, purpose: String) throws {
    let directory = file.directory
    try directory.prepare()
    let connect: SideReader.Connecting = { try StoreReader(directory: directory).besideWriter() }
    store = try StoreDatabase(directory, purpose: purpose, connect: connect) { occasion, onChecked in
      do { return try file.open(occasion, onChecked: onChecked) } catch {
        // A store that cannot be opened cannot use the space reserved for fences.
        let trouble =
          (error as? DatabaseError).map { StoreError.unusable(directory.database, $0) } ?? error as? StoreError
        guard case .diskTrouble? = trouble, ReserveFile(directory).release() else { throw error }
        return try file.open(occasion, onChecked: onChecked)
      }
    }
    inspection = RowInspection(store: store)
  }

  private init(_ store: StoreDatabase) {
    self.store = store
    inspection = RowInspection(store: store)
  }

  /// A store in memory, for rows that the disk refuses.
  /// - Throws: GRDB's `DatabaseError`
  public static func inMemory() throws -> DriveStore {
    DriveStore(StoreDatabase(inMemory: try StoreFile.inMemory()))
  }

  /// Inserts a part of a drive, with what was sent of it before. For a store in memory.
  /// - Throws: GRDB's `DatabaseError`
  public func insert(_ part: DriveInMemory, sent: [BatchInMemory]) async throws {
    try await RowsInMemory(store: store).insert(part, sent: sent)
  }

  /// The batches of a store in memory that may have left, were refused, or have a test.
  /// - Throws: GRDB's `DatabaseError`
  public func batchesInMemory() async throws -> [BatchInMemory] { try await RowsInMemory(store: store).batches() }

  /// Whether a write succeeds now; tries one that leaves nothing behind.
  public func isWritable() async -> Bool {
    do {
      // SQLite writes no page for a row that stays as it is.
      try await store.execute(
        "INSERT INTO unsent (session_id, batch_id, fences) VALUES (0, 0, 0); DELETE FROM unsent WHERE session_id = 0")
      return true
    } catch {
      return false
    }
  }

  public var directory: StateDirectory { store.directory }

  /// Reads beside the writer: a read of any length delays no fence. It sees everything written before the call.
  /// - Throws: ``StoreError``, GRDB's `DatabaseError`, and errors of `body`.
  public func reading<Result: Sendable>(
    _ body: @escaping @Sendable (StoreReader) throws -> Result
  ) async throws -> Result {
    try await store.withSideConnection { try body(StoreReader($0)) }
  }

  public var drives: RecordedDrives { RecordedDrives(store: store) }
  public var clocks: ClockMemory { ClockMemory(store: store) }
  public var outbox: Outbox { Outbox(store: store) }
  public var speedTests: SpeedTestOutbox { SpeedTestOutbox(store: store) }
  public var loop: LoopRecord { LoopRecord(store: store) }
  public var servers: ServerRecords { ServerRecords(store: store) }
  public var cleanup: AgeDeletion { AgeDeletion(store: store) }
  public var space: StoreSpace { StoreSpace(store: store) }
  public var orphans: Orphans { Orphans(store: store) }
  public var lostBatches: LostBatches { LostBatches(store: store) }
  public var clockSettlement: ClockSettlement { ClockSettlement(store: store) }
  var comparison: DriveComparison { DriveComparison(store: store) }

  /// Deletes a session with its fences, sent or not, and overwrites their bytes in the database file and the
  /// write-ahead log.
  /// - Parameters:
  ///   - session: The id of the session.
  ///   - note: Writes into a drive log, which stays, that its session of this number is forgotten; must be durable on
  ///     return.
  /// - Returns: `nil` when there is no such session.
  /// - Throws: ``ForgettingError``. GRDB's `DatabaseError`, `CocoaError` when the drive log cannot be deleted, and
  ///   errors of `note`: then the session still exists.
  public func forget(
    session: Int64, noting note: ((_ number: Int, _ log: String) throws -> Void)? = nil
  ) async throws -> Forgotten? {
    try await SessionErasure(store: store).forget(session, noting: note ?? DriveLogWriter.noteForgotten)
  }

  // MARK: Damage

  /// Closes the store and opens it again, as at a start. For use after an error for which ``StoreError/isDamage(_:)``
  /// is true. Concurrent reads and writes fail.
  /// - Throws: ``StoreError``
  public func repair() throws { try store.reopen() }

  /// Reads a large file that the start has not read completely, beside the writer, and repairs the store if the file
  /// is damaged. Must be called before anything is sent; calls after the first one return at once.
  /// - Throws: ``StoreError``, `CancellationError`, and GRDB's `DatabaseError` for errors that are no damage.
  public func checkFile() async throws {
    do { try await store.readWhole(by: StoreFile.check) } catch let error where StoreError.isDamage(error) {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try self.repair() }) }
      }
    }
  }

  /// The pending recovery from the drive logs, after damage found now or by an earlier process.
  public var recoveryNeed: RecoveryNeed { RecoveryMark(directory).need }

  /// Marks the store as older than the fences that its drives have sent, before a recovery hides this.
  /// - Throws: ``StoreError``
  func noteRollback() throws { try RecoveryMark(directory).set(.rolledBack) }

  /// Removes the mark of a pending recovery.
  func endRecovery() { RecoveryMark(directory).clear() }

  /// Adds the parts of a drive that the store lacks, all or nothing: ended fences, their sessions, the drive itself.
  /// Intact rows stay unchanged. Recovered fences are marked (`recovered_at`).
  /// - Parameters:
  ///   - logged: The drive as its log describes it.
  ///   - drive: Its id; `nil` when the store has nothing of it.
  ///   - started: The start that the fences' times relate to.
  ///   - now: The time of the recovery.
  /// - Returns: The drive's id, and the number of recovered fences.
  func recover(
    _ logged: LoggedDrive, as drive: Int64?, started: WallTime, at now: WallTime
  ) async throws -> (drive: Int64, fences: Int) {
    let mayHaveLeft = recoveryNeed > .none
    return try await store.write { [store] db in
      let id = try drive ?? DriveRecovery.insertDrive(logged, started, db)
      var recovery = DriveRecovery(
        logged: logged, drive: id,
        recorder: DriveRecorder(store, drive: id, started: started, target: logged.target?.description), now: now,
        mayHaveLeft: mayHaveLeft)
      try recovery.run(db)
      return (id, recovery.recovered.count)
    }
  }
}

extension DriveRecorder {
  /// Inserts a new drive.
  /// - Parameters:
  ///   - boot: The boot of the host, and the time since it.
  ///   - log: The path of the drive log; `nil` for none.
  ///   - link: The name of the measured link; `nil` when there is one link only.
  ///   - server: The URL of the control server that grants its tests; they are stored with this device's client UUID
  ///   there.
  ///   - target: The user's own target of its pings: then its fences are kept here and never submitted.
  /// - Throws: GRDB's `DatabaseError`
  public init(
    _ store: DriveStore, started: WallTime, boot: (id: String, sinceBoot: Duration)? = nil, log: String?,
    link: String? = nil, server: String? = nil, target: DriveTarget? = nil
  ) throws {
    let target = target?.description
    let drive = try store.store.writeNow { db in
      try db.execute(
        sql: "INSERT INTO drive (started_at, log, link, boot_id, started_boot_us, target) VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [started.microseconds, log, link, boot?.id, boot?.sinceBoot.inMicroseconds, target])
      return db.lastInsertedRowID
    }
    self.init(
      drive: drive, started: started, storedStart: started, store: store.store, boot: boot, log: log, link: link,
      server: server.map(ServerKey.of), target: target)
  }
}

extension StoreReader {
  /// Reads through the writing connection: for a few rows. A fence that is written meanwhile waits.
  public init(_ store: DriveStore) { self.init(store.database) }
}
