import Coverage
import Foundation
import GRDB

/// The one writer of a state directory.
///
/// What a call has returned from is on the disk: WAL with `synchronous=FULL`, both read back when the store is opened, one
/// writing connection in the process, one process in the directory.
public final class DriveStore: Sendable {
  public let directory: StateDirectory
  let database: DatabaseQueue
  private let lock: WriterLock

  /// Opens the store, making or migrating it where needed.
  /// - Parameter purpose: What this process is, for another one that finds the store in use; e.g. `coverage-probe record`.
  /// - Throws: ``StoreError``
  public init(directory: StateDirectory, purpose: String) throws {
    self.directory = directory
    try directory.prepare()
    lock = try WriterLock(directory, purpose: purpose)
    do {
      database = try DatabaseQueue(path: directory.database, configuration: Self.configuration)
      try Self.checkDurability(database, path: directory.database)
      try Self.migrate(database, path: directory.database)
    } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
  }

  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.label = "DriveStore"
    configuration.busyMode = .timeout(5)
    // Not by `journalMode = .wal`: that also lowers `synchronous` to NORMAL, after this block.
    configuration.prepareDatabase { db in
      RowChecksum.register(db)
      try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
      // What is deleted is a person's way through the world: its bytes go too.
      try db.execute(sql: "PRAGMA secure_delete = ON")
    }
    return configuration
  }

  private static func checkDurability(_ database: DatabaseQueue, path: String) throws {
    try database.read { db in
      let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? "unknown"
      guard journal == "wal" else {
        throw StoreError.notDurable(path: path, pragma: "journal_mode", value: journal)
      }
      let synchronous = try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1
      guard synchronous == 2 else {
        throw StoreError.notDurable(path: path, pragma: "synchronous", value: String(synchronous))
      }
    }
  }

  private static func migrate(_ database: DatabaseQueue, path: String) throws {
    let migrator = Schema.migrator
    if try database.read(migrator.hasBeenSuperseded) { throw StoreError.newerVersion(path: path) }
    try migrator.migrate(database)
  }
}
