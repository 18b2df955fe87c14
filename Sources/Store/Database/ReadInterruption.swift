import GRDB
import GRDBSQLite
import Synchronization

/// Ends a long read from another thread.
///
/// sqlite3_interrupt can also hit the statement that ends the read's transaction. The transaction then stays open, which GRDB answers with the
/// end of the process. A progress handler cannot: ending a transaction takes fewer steps than it waits for.
final class ReadInterruption: Sendable {
  private let wasAsked = Atomic(false)

  /// Whether the present read is to end.
  var isAsked: Bool { wasAsked.load(ordering: .sequentiallyConsistent) }

  /// Instructions of SQLite's machine between two looks: some microseconds; the end of a transaction has about ten.
  private static let steps: CInt = 1000

  /// A read begins; an earlier request was not meant for it.
  func begin() { wasAsked.store(false, ordering: .sequentiallyConsistent) }

  /// Asks the present read to end.
  func ask() { wasAsked.store(true, ordering: .sequentiallyConsistent) }

  /// Ends statements of `connection` on request. This object must outlive the connection.
  func listen(on connection: DatabaseQueue) {
    connection.inDatabase { database in
      sqlite3_progress_handler(
        database.sqliteConnection, Self.steps,
        { context in
          guard let context else { return 0 }
          let own = Unmanaged<ReadInterruption>.fromOpaque(context).takeUnretainedValue()
          return own.isAsked ? 1 : 0
        }, Unmanaged.passUnretained(self).toOpaque())
    }
  }
}
