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

  /// - Throws: ``StoreError``, `DatabaseError` for what is no damage: a full disk, missing rights.
  func open() throws -> DatabaseQueue {
    if FileManager.default.fileExists(atPath: salvaged) { _ = try replace() }
    tellOfMissing()
    for _ in 0..<2 {
      do { return try openWhole() } catch let error as DatabaseError where isDamage(error) { continue }
    }
    do { return try openWhole() } catch let error as DatabaseError where isDamage(error) {
      report(try salvage(error))
      return try openWhole()
    }
  }

  /// What is no damage to SQLite, and a loss all the same. Without a drive it is none: so a power cut can leave a first start.
  private func tellOfMissing() {
    let files = directory.files
    guard files[path, default: 0] == 0, files[path + "-wal", default: 0] == 0,
      files.keys.contains(where: { $0.hasPrefix(directory.driveLogs + "/") })
    else { return }
    let what = files[path] == nil ? "no store" : "an empty file in place of the store"
    report(Salvage(damage: "there are drive logs, and \(what) \(path)"))
  }

  private func openWhole() throws -> DatabaseQueue {
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
      RowChecksum.register(db)
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
    return StoreError.isDamage(error)
  }

  private func salvage(_ error: DatabaseError) throws -> Salvage {
    var result = Salvage(damage: error.message ?? "\(error.resultCode)")
    for suffix in ["", "-wal", "-shm"] { unlink(partial + suffix) }
    let new = try DatabaseQueue(path: partial, configuration: Self.configuration(enforcesReferences: false))
    try Schema.migrator.migrate(new)
    result = try new.write { new in
      var result = try rescueTables(to: new, result)
      try PageRescue(to: new).run(StorePages(path))
      try result.complete(new)
      return result
    }
    try new.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try new.close()
    try move(partial, to: salvaged)
    result.setAside = try replace()
    return result
  }

  private func rescueTables(to new: Database, _ result: Salvage) throws -> Salvage {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { db in
      RowChecksum.register(db)
      // Reads what is left of a file that lost its end, and of definitions that are damaged; nothing is written here.
      try db.execute(sql: "PRAGMA writable_schema = ON")
    }
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

  /// Sets the old file aside, and gives its place to the new one. At no moment is there none at that place.
  /// - Returns: Where the old one is now.
  private func replace() throws -> String {
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    var aside = path + ".corrupt-" + now.iso8601.replacing(":", with: "-")
    // A host whose clock was never set can be at the same time twice.
    while FileManager.default.fileExists(atPath: aside) { aside += "-again" }
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

/// The connection to the store. It is another one after a repair.
final class StoreConnection: @unchecked Sendable {
  private let file: StoreFile
  private let lock = NSLock()
  private var current: DatabaseQueue

  init(_ file: StoreFile) throws {
    self.file = file
    current = try file.open()
  }

  var database: DatabaseQueue { lock.withLock { current } }

  func reopen() throws {
    try lock.withLock {
      try current.close()
      current = try file.open()
    }
  }
}
