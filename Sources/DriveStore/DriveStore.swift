import Coverage
import GRDB

/// The door to a state directory for its one writer.
///
/// When a call returns, its change is on the disk: WAL with `synchronous=FULL`, both read back when the store is opened, one
/// writing connection in the process, one process in the directory.
public final class DriveStore: Sendable {
  /// Ends before the writer does, which then leaves no write-ahead log behind.
  private let sideReader: SideReader
  let store: StoreDatabase
  var database: DatabaseQueue { store.queue }

  /// Opens the store, making or migrating it where needed, and saving what can be saved from a damaged one.
  /// - Parameters:
  ///   - purpose: Names this process to another one that finds the store in use; e.g. `coverage-probe record`.
  ///   - report: Takes what was saved when the store was damaged, now or at a ``repair()``.
  /// - Throws: ``StoreError``
  public init(
    directory: StateDirectory, purpose: String, report: @escaping @Sendable (Salvage) -> Void = { _ in }
  ) throws {
    try directory.prepare()
    let file = StoreFile(directory: directory, report: report)
    sideReader = SideReader(directory)
    store = try StoreDatabase(directory, purpose: purpose) { isAfterUncleanEnd in
      do { return try file.open(isAfterUncleanEnd: isAfterUncleanEnd) } catch {
        // Space that is set aside for fences is of no use to a store that cannot be opened.
        let trouble =
          (error as? DatabaseError).map { StoreError.unusable(directory.database, $0) } ?? error as? StoreError
        guard case .diskTrouble? = trouble, Ballast(directory).release() else { throw error }
        return try file.open(isAfterUncleanEnd: isAfterUncleanEnd)
      }
    }
  }

  public var directory: StateDirectory { store.directory }

  /// Reads beside the writer: no fence waits for it, however long it takes. It sees all that was written before the call.
  /// - Throws: ``StoreError``, GRDB's `DatabaseError`, and what `body` throws.
  public func reading<Result: Sendable>(
    _ body: @escaping @Sendable (StoreReader) throws -> Result
  ) async throws -> Result {
    try await sideReader.read(body)
  }

  /// The drives of the store: the next one, and those that were left unfinished.
  public var drives: RecordedDrives { RecordedDrives(store: store) }
  /// The clocks of the present boot.
  public var clocks: ClockMemory { ClockMemory(store: store) }
  /// Batches: what is to be sent, is on its way, was sent or refused.
  public var outbox: Outbox { Outbox(store: store) }
  /// What control servers have given this device, and what is known of them.
  public var servers: ServerRecords { ServerRecords(store: store) }
  /// Deletes what is too old.
  public var cleanup: Cleanup { Cleanup(store: store) }
  /// Drops what the server has, for a quota or a full disk.
  public var space: StoreSpace { StoreSpace(store: store) }
  /// Fences whose session or drive is missing or damaged.
  public var orphans: Orphans { Orphans(store: store) }
  /// Batches that may have left, though the store no longer says so.
  public var lostBatches: LostBatches { LostBatches(store: store) }
  /// Times that a wrong clock has told.
  public var clockSettlement: ClockSettlement { ClockSettlement(store: store) }
  /// The drives of the store beside their logs.
  public var comparison: DriveComparison { DriveComparison(store: store) }

  /// Deletes a session with its fences as if it had never been, sent or not. Its bytes are overwritten in the database file, and
  /// the write-ahead log is emptied.
  /// - Parameter note: Notes in a drive log, which stays, that its session of that number is forgotten; durable when it returns.
  /// - Returns: `nil` when there is no such session.
  /// - Throws: ``ForgettingError``. GRDB's `DatabaseError`, `CocoaError` when the drive log cannot be deleted, and what `note` throws:
  ///   then the session is still there.
  public func forget(
    session: Int64, noting note: (_ number: Int, _ log: String) throws -> Void
  ) async throws -> Forgotten? {
    try await SessionErasure(store: store).forget(session, noting: note)
  }

  /// Completes what a crash or a failure has interrupted; to be called before anything is recovered from drive logs.
  /// - Parameters:
  ///   - note: As for ``forget(session:noting:)``.
  ///   - report: Takes the result for each session, or why it is still there; then the next start tries again.
  /// - Throws: GRDB's `DatabaseError`
  public func completeForgetting(
    noting note: (_ number: Int, _ log: String) throws -> Void, report: (Result<Forgotten, ForgettingError>) -> Void
  ) async throws {
    try await SessionErasure(store: store).complete(noting: note, report: report)
  }

  // MARK: Damage

  /// Closes the store and opens it again, as at a start: to be called when ``StoreError/isDamage(_:)`` says so of an error. Reads
  /// and writes that run meanwhile fail.
  /// - Throws: ``StoreError``
  public func repair() throws {
    sideReader.reconnect()
    try store.reopen()
  }

  /// The damage that is still to be made up for from the drive logs: found when the store was opened, or by an earlier process.
  public var recoveryNeed: RecoveryNeed { RecoveryMark(directory).need }

  /// Notes that the store is older than what its drives have sent, before that is hidden by what is recovered.
  /// - Throws: ``StoreError``
  public func noteRollback() throws { try RecoveryMark(directory).set(.rolledBack) }

  /// Notes that the need is met.
  public func endRecovery() { RecoveryMark(directory).clear() }

  /// Writes what the store lacks of a drive, all or nothing: fences that ended, the sessions that they belong to, the drive itself. What is
  /// there and whole stays as it is. Recovered fences say so (`recovered_at`).
  /// - Parameters:
  ///   - drive: Its id; `nil` when the store has nothing of it.
  ///   - started: To this the times of the fences relate.
  ///   - now: The moment of the recovery.
  /// - Returns: Its id, and how many fences were recovered.
  /// - Throws: GRDB's `DatabaseError`
  public func recover(
    _ logged: LoggedDrive, as drive: Int64?, started: WallTime, at now: WallTime
  ) async throws -> (drive: Int64, fences: Int) {
    let mayHaveLeft = recoveryNeed > .none
    return try await store.write { [store] db in
      let id = try drive ?? DriveRecovery.insertDrive(logged, started, db)
      var recovery = DriveRecovery(
        logged: logged, drive: id, recorder: DriveRecorder(store, drive: id, started: started), now: now,
        mayHaveLeft: mayHaveLeft)
      try recovery.run(db)
      return (id, recovery.recovered.count)
    }
  }
}

extension DriveRecorder {
  /// Enters a new drive.
  /// - Parameters:
  ///   - boot: The boot of the host that it happens in, and the time since then.
  ///   - log: The path of its drive log, `nil` when none is written.
  ///   - link: The name of the link that it measures, where there are several.
  ///   - server: The URL of the control server that makes its tests: they are stored with the client UUID that this device has there.
  /// - Throws: GRDB's `DatabaseError`
  public init(
    _ store: DriveStore, started: WallTime, boot: (id: String, sinceBoot: Duration)? = nil, log: String?,
    link: String? = nil, server: String? = nil
  ) throws {
    try self.init(store.store, started: started, boot: boot, log: log, link: link, server: server)
  }
}

extension StoreReader {
  /// Reads through the writer's own connection.
  public init(_ store: DriveStore) { self.init(store.database) }
}
