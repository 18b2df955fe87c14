import Coverage
import Foundation
import GRDB

/// The database file of a state directory: opened whole, or made whole first.
///
/// One that is damaged is opened once more; if it still is, what can be read and fits its checksum goes into a new file, and the
/// old one is set aside. A power cut in between changes nothing: the new file takes the place of the old one when it is complete.
struct StoreFile {
  let directory: StateDirectory
  let report: @Sendable (Salvage) -> Void

  private var path: String { directory.database }
  /// The new file while it is being filled, and when it is complete.
  private var partial: String { path + ".partial" }
  private var salvaged: String { path + ".salvaged" }

  /// How much of a damaged store goes into the new one: each is tried when the one before fails.
  private enum Rescuing: CaseIterable {
    case rowsAndWhatTheyLack
    /// Some combination of rows that nothing foresaw: what was not sent is asked about.
    case rows
    case nothing
  }

  /// - Parameter isAfterUncleanEnd: Whether the last process had the store open until it was killed.
  /// - Throws: ``StoreError``, `DatabaseError` for what is no damage: a full disk, missing rights.
  func open(isAfterUncleanEnd: Bool) throws -> DatabaseQueue {
    try setAsideWhatIsNoFile()
    try finishReplacement()
    if let damage = try damageBesideSQLite(isAfterUncleanEnd) { return try openSalvaged(damage) }
    try StateFile.prepareDatabase(path)
    for _ in 0..<2 {
      do { return try openWhole(path) } catch let error as DatabaseError where isDamage(error) { continue }
    }
    do { return try openWhole(path) } catch let error as DatabaseError where isDamage(error) {
      return try openSalvaged(error.message ?? "\(error.resultCode)")
    }
  }

  /// Moves away whatever has the name of the store, of its companions or of the new file and is no regular file, as a repaired file system
  /// can leave it: SQLite could not open the store beside it. Symbolic links stay, and are refused.
  /// - Throws: ``StoreError``
  private func setAsideWhatIsNoFile() throws {
    for file in ["", "-wal", "-shm", "-journal", ".partial", ".partial-wal", ".partial-shm"].map({ path + $0 }) {
      var status = stat()
      guard lstat(file, &status) == 0, ![S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else { continue }
      // Before the only trace of it is gone. The store itself says by its absence that it is missing.
      if file == path + "-wal" { try noteRecovery(.rolledBack) }
      let aside = asideName() + file.dropFirst(path.count)
      try move(file, to: aside)
      if file == path + "-wal" {
        report(Salvage(damage: "\(file) was no file and is kept as \(aside)", isStoreOlder: true))
      } else if file == path {
        var salvage = Salvage(damage: "it was no file")
        salvage.setAside = aside
        report(salvage)
      }
    }
  }

  /// What is no damage to SQLite, and a loss all the same.
  /// - Returns: What is to be salvaged before SQLite sees it.
  /// - Throws: ``StoreError``
  private func damageBesideSQLite(_ isAfterUncleanEnd: Bool) throws -> String? {
    let files = directory.files
    let log = WriteAheadLog(path)
    // What is no file at all, SQLite finds and says.
    let isMissing = files[path].map { $0 == 0 } ?? !FileManager.default.fileExists(atPath: path)
    // SQLite deletes a log that it finds beside an empty file.
    if isMissing, !log.pages.isEmpty {
      try noteRecovery(.rolledBack)
      return files[path] == nil
        ? "its file is missing, its write-ahead log is there" : "its file is empty, its write-ahead log is not"
    }
    if isMissing {
      // Without a drive it is none: so a power cut can leave a first start.
      guard files.keys.contains(where: { $0.hasPrefix(directory.driveLogs + "/") }) else { return nil }
      try noteRecovery(.rolledBack)
      let what = files[path] == nil ? "no store" : "an empty file in place of the store"
      report(Salvage(damage: "there are drive logs, and \(what) \(path)"))
      return nil
    }
    switch log.state {
    case .damaged(let frames):
      try noteRecovery(.rolledBack)
      return "\(frames) frames of its write-ahead log cannot be read as they were written"
    case .missing:
      guard isAfterUncleanEnd else { return nil }
      try noteRecovery(.rolledBack)
      report(Salvage(damage: "the write-ahead log of \(path) is missing", isStoreOlder: true))
    case .whole: if isAfterUncleanEnd, !log.isVouchedFor { try noteRecovery(.rolledBack) }
    }
    return nil
  }

  /// Notes that the store may be older than what was sent, before anything hides it. Durable when it returns.
  private func noteRecovery(_ need: RecoveryNeed) throws { try RecoveryMark(directory).set(need) }

  private func openWhole(_ path: String) throws -> DatabaseQueue {
    let database = try DatabaseQueue(path: path, configuration: Self.configuration())
    do {
      try checkDurability(database)
      try database.read(Self.checkIntegrity)
      let migrator = Schema.migrator
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
      return database
    } catch {
      try database.close()
      throw error
    }
  }

  private static func configuration(enforcesReferences: Bool = true) -> Configuration {
    var configuration = Configuration()
    configuration.label = "DriveStore"
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = enforcesReferences
    // Not by `journalMode = .wal`: that also lowers `synchronous` to NORMAL, after this block.
    configuration.prepareDatabase { db in
      try RowChecksum.register(db)
      // Only a file without a page can be told to give pages back to the disk; journal_mode writes the first one.
      if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
      // What is deleted is a person's way through the world: its bytes go too.
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

  /// Not `quick_check`: that does not see an index which hides a row.
  private static func checkIntegrity(_ db: Database) throws {
    let answer = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "no answer"
    guard answer == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: answer) }
  }

  // MARK: Damage

  /// Everything but what a disk or the rights on it are to blame for.
  private func isDamage(_ error: DatabaseError) -> Bool {
    // A damaged header can say that a file is not to be written.
    if error.resultCode == .SQLITE_READONLY { return access(path, W_OK) == 0 }
    // A damaged length can ask for more memory than there is.
    if error.resultCode == .SQLITE_NOMEM { return true }
    return StoreError.isDamage(error)
  }

  /// Salvages the store, with as much of it as gives a store that is whole.
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
        // The newest version of each page first: what SQLite reads may be older, where its log is damaged.
        try PageRescue(to: new).run(StorePages(path))
        var result = try rescueTables(to: new, result)
        if rescuing == .rowsAndWhatTheyLack { try result.complete(new) } else { try result.completeRoughly(new) }
        return result
      }
    }
    if rescuing != .rowsAndWhatTheyLack { try noteRecovery(.rolledBack) }
    try new.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try new.close()
    // It takes no other's place unless it is whole itself.
    try openWhole(partial).close()
    try move(partial, to: salvaged)
    result.setAside = try replace()
    return result
  }

  private func rescueTables(to new: Database, _ result: Salvage) throws -> Salvage {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { db in
      try RowChecksum.register(db)
      // Reads what is left of a file that lost its end, and of definitions that are damaged; nothing is written here.
      try db.execute(sql: "PRAGMA writable_schema = ON")
    }
    var file = stat()
    guard stat(path, &file) == 0, file.st_size > 0 else { return result }
    let old: DatabaseQueue
    do { old = try DatabaseQueue(path: path, configuration: configuration) } catch is DatabaseError { return result }
    // Without a transaction: after an error there is none that could be ended.
    return try old.unsafeRead { old in
      var rescue: Rescue
      do { rescue = try Rescue(from: old, to: new, result) } catch is DatabaseError { return result }
      try rescue.run()
      return rescue.result
    }
  }

  /// Goes on with a replacement that was cut, unless the new file is none: an empty or damaged one must not replace a good store.
  private func finishReplacement() throws {
    var status = stat()
    guard lstat(salvaged, &status) == 0 else { return }
    do {
      guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
        throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "it is empty")
      }
      try openWhole(salvaged).close()
    } catch let error as DatabaseError where isDamage(error) {
      try move(salvaged, to: asideName() + ".salvaged")
      return
    }
    try noteRecovery(.damaged)
    _ = try replace()
  }

  /// A name that no file set aside has yet.
  private func asideName() -> String {
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    var aside = path + ".corrupt-" + now.iso8601.replacing(":", with: "-")
    // A host whose clock was never set can be at the same time twice.
    while [aside, aside + "-wal", aside + ".salvaged"].contains(where: FileManager.default.fileExists) {
      aside += "-again"
    }
    return aside
  }

  /// Sets the old file aside, and gives its place to the new one. At no moment is there none at that place.
  /// - Returns: Where the old one is now.
  private func replace() throws -> String {
    let aside = asideName()
    for suffix in ["-wal", ""] where FileManager.default.fileExists(atPath: path + suffix) {
      try keep(path + suffix, as: aside + suffix)
      // It is kept for a while from now on. If this fails, its age is that of what is in it.
      utimes(aside + suffix, nil)
    }
    // A write-ahead log must not meet a file that it does not belong to.
    for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    guard StateDirectory.syncNames(in: directory.path) else { throw cannotMove(path) }
    try move(salvaged, to: path)
    return aside
  }

  /// Gives a file another name. It has the first one as well, where the file system can do that.
  private func keep(_ file: String, as name: String) throws {
    guard link(file, name) == 0 else { return try move(file, to: name) }
    guard StateDirectory.syncNames(in: directory.path) else { throw cannotMove(file) }
  }

  private func cannotMove(_ file: String) -> StoreError {
    .unusable(path: file, reason: "it cannot be moved: \(String(cString: strerror(errno)))")
  }

  /// Durable when it returns.
  private func move(_ file: String, to destination: String) throws {
    guard rename(file, destination) == 0, StateDirectory.syncNames(in: directory.path) else { throw cannotMove(file) }
  }
}
