import Coverage
import Foundation
import GRDB

/// The database file of a state directory: opens it, and repairs it first if needed.
///
/// A damaged file is opened a second time, as the error may have been transient. If it is still damaged, its readable
/// rows with fitting checksums are copied to a new file, and the old one is set aside. A power cut changes nothing:
/// the new file replaces the old one only when it is complete.
struct StoreFile {
  let directory: StateDirectory
  /// A start reads a file of at most so many bytes completely before it uses it. A larger one is tried only, and read
  /// later beside the writer, because a drive must not wait for it.
  var readAtStart = LargeStore.bytes
  let report: @Sendable (Salvage) -> Void

  private var path: String { directory.database }
  /// The new file while it is written, and when it is complete.
  private var partial: String { path + ".partial" }
  private var salvaged: String { path + ".salvaged" }

  /// How much of a damaged store is copied. Each case is tried when the one before fails.
  private enum Rescuing: CaseIterable {
    case rowsAndParents
    /// For contradicting rows: unsent fences are checked against the server's history.
    case rows
    case nothing
  }

  /// - Throws: ``StoreError``; `DatabaseError` for errors that are no damage: a full disk, missing permissions.
  func open(_ occasion: OpeningReason, onChecked: () -> Void) throws -> OpeningResult {
    try setAsideNonFiles()
    try finishReplacement()
    try noteLosses(occasion == .startAfterUncleanEnd)
    onChecked()
    try StateFile.prepareDatabase(path)
    if occasion != .repair, RawFile(path).bytes > readAtStart {
      do {
        return OpeningResult(queue: try openWhole(path, isTrial: true), isRead: false)
      } catch let error as DatabaseError where isDamage(error) {}
    }
    var damage = ""
    for _ in 0..<3 {
      do { return OpeningResult(queue: try openWhole(path)) } catch let error as DatabaseError where isDamage(error) {
        damage = error.message ?? "\(error.resultCode)"
      }
    }
    return OpeningResult(queue: try openSalvaged(damage))
  }

  /// Reads the whole file through `database`.
  /// - Throws: `DatabaseError` for damage, and when the connection is interrupted.
  static func check(_ database: DatabaseQueue) throws { try database.read(checkIntegrity) }

  /// Moves away anything that has the name of the store, its companions or the new file and is not a regular file, as
  /// a repaired file system can leave it: SQLite could not open the store. Symbolic links stay, and are refused.
  /// - Throws: ``StoreError``
  private func setAsideNonFiles() throws {
    for file in ["", "-wal", "-shm", "-journal", ".partial", ".partial-wal", ".partial-shm"].map({ path + $0 }) {
      guard let status = StateFile.status(file), ![S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else { continue }
      // Before the only trace of the log disappears. A missing store is its own trace.
      if file == path + "-wal" { try noteRecovery(.rolledBack) }
      let aside = asideName() + file.dropFirst(path.count)
      try move(file, to: aside)
      if file == path + "-wal" {
        report(Salvage(damage: "\(file) was not a regular file and is now \(aside)", isStoreOlder: true))
      } else if file == path {
        var salvage = Salvage(damage: "it was no file")
        salvage.setAside = aside
        report(salvage)
      }
    }
  }

  /// Finds losses that SQLite does not report as damage: the store is opened without them, and the drive logs restore them.
  /// - Throws: ``StoreError``
  private func noteLosses(_ isAfterUncleanEnd: Bool) throws {
    let files = directory.files
    // SQLite reports a file that is not a database.
    if files[path].map({ $0 == 0 }) ?? !FileManager.default.fileExists(atPath: path) {
      // Without any drive nothing is lost: a power cut can leave a first start like this. SQLite deletes the log of a missing store.
      let identity = RowCopies(directory).path(.identity, 1)
      let copies = [
        (directory.driveLogs + "/", "drive logs"), (directory.copies + "/", "copies of rows"),
        (path + "-wal", "a write-ahead log"),
      ]
      let found = copies.first { copy in
        files.contains { $0.key.hasPrefix(copy.0) && $0.value > 0 && $0.key != identity }
      }
      guard let (_, what) = found else { return }
      try noteRecovery(.rolledBack)
      let state = files[path] == nil ? "no store" : "an empty file in place of the store"
      report(Salvage(damage: "there are \(what), and \(state) \(path)"))
      return
    }
    guard isAfterUncleanEnd || WriteAheadLog.exists(path) else { return }
    // A process that was killed in its look has left what the log must have.
    let mark = RecoveryMark(directory), earlier = mark.look
    let isMarked = mark.need > .none && earlier == nil
    let index = earlier ?? LogIndex(path + "-shm")
    if let index, !isMarked { try mark.begin(index) } else { try mark.set(.rolledBack) }
    try WriteAheadLog.look(path, index) { state in
      let isLoss = state != .whole && (isAfterUncleanEnd || earlier != nil)
      if isLoss, !isMarked { try mark.conclude() } else if !isMarked { mark.clear() }
      guard state == .lost, isLoss else { return }
      report(Salvage(damage: "the write-ahead log of \(path) is damaged or missing", isStoreOlder: true))
    }
  }

  /// Marks the store as possibly older than the sent fences, before a repair hides this. Durable on return.
  private func noteRecovery(_ need: RecoveryNeed) throws { try RecoveryMark(directory).set(need) }

  /// - Parameter isTrial: Whether to try the store only, instead of reading all of it.
  private func openWhole(_ path: String, isTrial: Bool = false) throws -> DatabaseQueue {
    let database = try DatabaseQueue(path: path, configuration: Self.configuration())
    do {
      try checkDurability(database)
      let migrator = Schema.migrator
      try database.read(Schema.checkMigrationList)
      // Migrations read and write every table.
      if try !isTrial || !database.read(migrator.hasCompletedMigrations) { try Self.check(database) }
      let applied = try database.read(migrator.appliedIdentifiers)
      if !applied.isSubset(of: migrator.migrations) {
        guard applied.isSuperset(of: migrator.migrations) else {
          throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its list of migrations is damaged")
        }
        throw StoreError.newerVersion(path: path)
      }
      try migrator.migrate(database)
      try database.read(Schema.check)
      try database.writeWithoutTransaction(IntactRows.makeViews)
      if path == self.path {
        let copies = RowCopies(directory)
        try copies.restore(to: database, hasLosses: RecoveryMark(directory).need > .none)
        try copies.settleIdentity(of: database)
      }
      if isTrial { try StoreTrial.run(database) }
      return database
    } catch {
      try database.close()
      throw error
    }
  }

  /// A new store in memory.
  static func inMemory() throws -> OpeningResult {
    let database = try DatabaseQueue(configuration: configuration())
    try Schema.migrator.migrate(database)
    try database.writeWithoutTransaction(IntactRows.makeViews)
    return OpeningResult(queue: database)
  }

  private static func configuration(enforcesReferences: Bool = true) -> Configuration {
    var configuration = Configuration()
    configuration.label = "DriveStore"
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = enforcesReferences
    // Not with `journalMode = .wal`, which also lowers `synchronous` to NORMAL after this block.
    configuration.prepareDatabase { db in
      try ChecksumFunction.register(db)
      // Only an empty file accepts auto_vacuum, which returns unused pages to the disk; setting journal_mode writes
      // the first page.
      if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
      // Overwrites deleted bytes: they show where a person drove.
      try db.execute(sql: "PRAGMA secure_delete = ON")
    }
    return configuration
  }

  private func checkDurability(_ database: DatabaseQueue) throws {
    try database.read { db in
      for (pragma, needed) in [("journal_mode", "wal"), ("synchronous", "2")] {
        let value = try String.fetchOne(db, sql: "PRAGMA \(pragma)") ?? "nothing"
        guard value == needed else { throw StoreError.notDurable(path: path, pragma: pragma, value: value) }
      }
    }
  }

  /// `quick_check` does not find an index that hides a row.
  static func checkIntegrity(_ db: Database) throws {
    let answer = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "no answer"
    guard answer == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: answer) }
  }

  // MARK: Damage

  /// Whether an error means damage: neither the disk nor permissions explain it.
  private func isDamage(_ error: DatabaseError) -> Bool {
    // A damaged header can declare the file read-only.
    if error.resultCode == .SQLITE_READONLY { return access(path, W_OK) == 0 }
    // A damaged length can ask for more memory than there is.
    if error.resultCode == .SQLITE_NOMEM { return true }
    return StoreError.isDamage(error)
  }

  /// Salvages the store, with as many rows as an intact new store allows.
  private func openSalvaged(_ damage: String) throws -> DatabaseQueue {
    try noteRecovery(.damaged)
    for rescuing in Rescuing.allCases {
      do {
        let salvage = try salvage(damage, rescuing)
        let database = try openWhole(path)
        report(salvage)
        return database
      } catch let error as DatabaseError where isDamage(error) && rescuing != .nothing { continue }
    }
    return try openWhole(path)
  }

  private func salvage(_ damage: String, _ rescuing: Rescuing) throws -> Salvage {
    var result = Salvage(damage: damage)
    for suffix in ["", "-wal", "-shm"] { unlink(partial + suffix) }
    try StateFile.prepareDatabase(partial)
    let new = try DatabaseQueue(path: partial, configuration: Self.configuration(enforcesReferences: false))
    try Schema.migrator.migrate(new)
    try new.writeWithoutTransaction(IntactRows.makeViews)
    if rescuing != .nothing {
      result = try new.write { new in
        var result = try rescueTables(to: new, result)
        if rescuing == .rowsAndParents { try result.complete(new) } else { try result.completeRoughly(new) }
        return result
      }
    }
    if rescuing != .rowsAndParents { try noteRecovery(.rolledBack) }
    try new.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try new.close()
    // The new file replaces the old one only if it is intact.
    try openWhole(partial).close()
    try move(partial, to: salvaged)
    result.setAside = try replace()
    return result
  }

  private func rescueTables(to new: Database, _ result: Salvage) throws -> Salvage {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { db in
      try ChecksumFunction.register(db)
      // Reads files that lost their end or have damaged definitions; nothing is written here.
      try db.execute(sql: "PRAGMA writable_schema = ON")
    }
    guard let file = StateFile.status(path), file.st_size > 0 else { return result }
    let old: DatabaseQueue
    do { old = try DatabaseQueue(path: path, configuration: configuration) } catch is DatabaseError { return result }
    // Without a transaction, because an error leaves none to end.
    return try old.unsafeRead { old in
      var rescue: Rescue
      do { rescue = try Rescue(from: old, to: new, result) } catch is DatabaseError { return result }
      try rescue.run()
      return rescue.result
    }
  }

  /// Completes an interrupted replacement. An empty or damaged new file must not replace a good store.
  private func finishReplacement() throws {
    guard let status = StateFile.status(salvaged) else { return }
    do {
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
        throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "it is empty")
      }
      try requireTables(of: salvaged)
      try openWhole(salvaged).close()
    } catch let error as DatabaseError where isDamage(error) {
      let aside = asideName() + ".salvaged"
      try move(salvaged, to: aside)
      StateDirectory.setModified(aside, to: WallTime.plausible.upperBound)
      return
    }
    try noteRecovery(.damaged)
    _ = try replace()
  }

  /// A database without tables would become an empty store.
  private func requireTables(of file: String) throws {
    let database = try DatabaseQueue(path: file)
    defer { try? database.close() }
    guard try database.read({ try $0.tableExists("fence") }) else {
      throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "it has no tables")
    }
  }

  /// An unused name for a file that is set aside.
  private func asideName() -> String {
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    var aside = path + ".corrupt-" + now.iso8601.replacing(":", with: "-")
    // A host without a battery-backed clock can show the same time twice.
    while [aside, aside + "-wal", aside + ".salvaged"].contains(where: FileManager.default.fileExists) {
      aside += "-again"
    }
    return aside
  }

  /// Sets the old file aside and moves the new one into its place. At every moment one of them has the name.
  /// - Returns: The new path of the old file.
  private func replace() throws -> String {
    let aside = asideName()
    for suffix in ["-wal", ""] where FileManager.default.fileExists(atPath: path + suffix) {
      try linkOrMove(path + suffix, as: aside + suffix)
      // Its age counts from the next cleanup for which two clocks agree. If this fails, the age is that of its last write.
      StateDirectory.setModified(aside + suffix, to: WallTime.plausible.upperBound)
    }
    // A write-ahead log must not meet a database that it does not belong to.
    for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    guard StateDirectory.syncNames(in: directory.path) else { throw cannotMove(path) }
    try move(salvaged, to: path)
    return aside
  }

  /// Adds a name to a file; moves it, where the file system has no hard links.
  private func linkOrMove(_ file: String, as name: String) throws {
    guard link(file, name) == 0 else { return try move(file, to: name) }
    guard StateDirectory.syncNames(in: directory.path) else { throw cannotMove(file) }
  }

  private func cannotMove(_ file: String) -> StoreError {
    .unusable(path: file, reason: "it cannot be moved: \(String(cString: strerror(errno)))")
  }

  /// Durable on return.
  private func move(_ file: String, to destination: String) throws {
    guard rename(file, destination) == 0, StateDirectory.syncNames(in: directory.path) else { throw cannotMove(file) }
  }
}
