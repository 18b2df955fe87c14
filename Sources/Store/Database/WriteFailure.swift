import Foundation
import GRDB
import GRDBSQLite

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
