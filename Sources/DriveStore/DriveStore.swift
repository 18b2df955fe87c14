import Foundation
import GRDB

/// The one writer of a state directory.
///
/// What a call has returned from is on the disk: WAL with `synchronous=FULL`, both read back when the store is opened, one
/// writing connection in the process, one process in the directory.
public final class DriveStore: Sendable {
  public let directory: StateDirectory
  private let lock: WriterLock
  private let connection: StoreConnection
  private let checkpoints = CheckpointSchedule()
  var database: DatabaseQueue { connection.database }

  /// Opens the store, making or migrating it where needed, and saving what can be saved from a damaged one.
  /// - Parameters:
  ///   - purpose: What this process is, for another one that finds the store in use; e.g. `coverage-probe record`.
  ///   - report: Takes what was saved when the store was damaged, now or at a ``repair()``.
  /// - Throws: ``StoreError``
  public init(
    directory: StateDirectory, purpose: String, report: @escaping @Sendable (Salvage) -> Void = { _ in }
  ) throws {
    self.directory = directory
    try directory.prepare()
    lock = try WriterLock(directory, purpose: purpose)
    let file = StoreFile(directory: directory, report: report)
    do {
      connection = try Self.connect(file, isAfterUncleanEnd: lock.isAfterUncleanEnd)
    } catch StoreError.diskTrouble where Ballast(directory).release() {
      // What is kept for fences is of no use to a store that cannot be opened.
      connection = try Self.connect(file, isAfterUncleanEnd: lock.isAfterUncleanEnd)
    }
    lock.noteOpenStore()
  }

  private static func connect(_ file: StoreFile, isAfterUncleanEnd: Bool) throws -> StoreConnection {
    do { return try StoreConnection(file, isAfterUncleanEnd: isAfterUncleanEnd) } catch let error as DatabaseError {
      throw StoreError.unusable(file.directory.database, error)
    }
  }

  deinit { lock.noteClosedStore() }

  /// Closes and opens the store anew, as at a start: to be called when ``StoreError/isDamage(_:)`` says so of an error. What else
  /// is being read or written meanwhile fails.
  /// - Throws: ``StoreError``
  public func repair() throws {
    do { try connection.reopen() } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
  }

  /// Copies what the write-ahead log has into the store, if that was long ago: what damages the log then costs minutes and not hours.
  /// - Throws: GRDB's `DatabaseError` for a damaged file. Other trouble changes nothing: what is in the log is safe there, and the next
  ///   call tries again.
  func checkpointIfDue() throws {
    guard checkpoints.isDue() else { return }
    do {
      try database.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    } catch let error where !StoreError.isDamage(error) {}
  }
}
