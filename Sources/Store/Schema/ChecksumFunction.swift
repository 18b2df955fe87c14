import GRDB
import GRDBSQLite

/// The SQL function that computes the checksum of a row (``RowChecksum``).
enum ChecksumFunction {
  static let name = "checksum_of_row"

  /// Registers the function on a connection. Must be called before its first statement.
  ///
  /// The function reads SQLite's values in place. GRDB's `DatabaseFunction` would create an array of values, and a
  /// string for each text, in every call.
  static func register(_ db: Database) throws {
    let code = sqlite3_create_function_v2(
      db.sqliteConnection, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
      { context, count, values in
        var checksum = CRC64()
        for index in 0..<Int(count) {
          guard let value = values?[index], checksum.add(sqliteValue: value) else {
            return sqlite3_result_error_nomem(context)
          }
        }
        sqlite3_result_int64(context, Int64(bitPattern: checksum.value))
      }, nil, nil, nil)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}

extension CRC64 {
  /// Adds an argument of an SQL function.
  /// - Returns: `false` when SQLite has no memory for the value.
  fileprivate mutating func add(sqliteValue value: OpaquePointer) -> Bool {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: add(sqlite3_value_int64(value))
    case SQLITE_FLOAT: add(sqlite3_value_double(value))
    case SQLITE_TEXT:
      guard let text = sqlite3_value_text(value) else { return false }
      add(text: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
    case SQLITE_BLOB:
      let count = Int(sqlite3_value_bytes(value))
      let bytes = sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
      guard bytes != nil || count == 0 else { return false }
      add(blob: UnsafeBufferPointer(start: bytes, count: count))
    default: addNull()
    }
    return true
  }
}
