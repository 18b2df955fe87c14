import Foundation
import GRDB

/// The store of a state directory as its one writer has it open: the connection, and the right to write.
///
/// Whatever reads or writes rows has this value; the right to write ends with the last of them.
final class StoreDatabase: @unchecked Sendable {
  /// Opens the store, repaired where it was damaged.
  typealias Opening = @Sendable (_ isAfterUncleanEnd: Bool) throws -> DatabaseQueue

  let directory: StateDirectory
  private let lock: WriterLock
  private let open: Opening
  private let checkpoints = CheckpointSchedule()
  private let access = NSLock()
  private var current: DatabaseQueue

  /// - Parameter purpose: Names this process to another one that finds the store in use.
  /// - Throws: ``StoreError``
  init(_ directory: StateDirectory, purpose: String, open: @escaping Opening) throws {
    self.directory = directory
    self.open = open
    lock = try WriterLock(directory, purpose: purpose)
    do { current = try open(lock.isAfterUncleanEnd) } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
    lock.noteOpenStore()
  }

  deinit { lock.noteClosedStore() }

  /// The writing connection; another one after ``reopen()``.
  var queue: DatabaseQueue { access.withLock { current } }

  /// Closes the store and opens it again, as at a start. Reads and writes that run meanwhile fail.
  /// - Throws: ``StoreError``
  func reopen() throws {
    do {
      try access.withLock {
        try current.close()
        current = try open(false)
      }
    } catch let error as DatabaseError {
      throw StoreError.unusable(directory.database, error)
    }
  }

  /// - Throws: GRDB's `DatabaseError`, and what `body` throws.
  func read<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
    try await queue.read(body)
  }

  /// Runs `body` in a transaction, even when the calling task was cancelled meanwhile: an answer of the server must not be forgotten.
  /// - Throws: GRDB's `DatabaseError`, and what `body` throws.
  func write<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
    try await Task { [queue] in try await queue.write(body) }.value
  }

  /// Copies the write-ahead log into the store, if that was long ago: what damages the log then costs minutes and not hours.
  /// - Throws: GRDB's `DatabaseError` for a damaged file. Other trouble changes nothing: the log is safe, and the next call tries again.
  func checkpointIfDue() throws {
    guard checkpoints.isDue() else { return }
    do {
      try queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    } catch let error where !StoreError.isDamage(error) {}
  }
}
