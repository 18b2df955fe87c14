import GRDB
import GRDBSQLite
import OrderedJSON

/// A statement that inserts rows, whose values are bound one by one: GRDB's own arguments cost more than all other work on a row.
struct RowInsertion {
  private let statement: Statement
  private let database: Database
  private var position: CInt = 0

  /// SQLite takes a copy of each text and blob.
  private static let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ statement: Statement, in database: Database) { (self.statement, self.database) = (statement, database) }

  mutating func bind(_ number: Int64) {
    position += 1
    sqlite3_bind_int64(statement.sqliteStatement, position, number)
  }

  mutating func bind(_ number: Double) {
    position += 1
    sqlite3_bind_double(statement.sqliteStatement, position, number)
  }

  mutating func bind(_ bytes: [UInt8]) {
    position += 1
    sqlite3_bind_blob(statement.sqliteStatement, position, bytes, CInt(clamping: bytes.count), Self.copies)
  }

  /// Binds a value in SQLite's types; an object is its JSON text. `nil` is NULL.
  mutating func bind(_ value: JSON?) {
    switch value {
    case .string(let text): bind(text)
    case .integer(let number): bind(number)
    case .decimal(let units, let places): bind(JSON.number(units, places: places))
    case .number(let number): bind(number)
    case .bool(let value): bind(Int64(value ? 1 : 0))
    // No value is bound: it is NULL.
    case .null, nil: position += 1
    case .array(let elements): bind(JSON.array(elements).text)
    case .object(let members): bind(JSON.object(members).text)
    }
  }

  mutating func bind(_ text: String) {
    position += 1
    var text = text
    text.withUTF8 { bytes in
      _ = bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement.sqliteStatement, position, $0.baseAddress, CInt(clamping: $0.count), Self.copies)
      }
    }
  }

  /// Inserts the row; the next ``bind(_:)`` begins another one.
  /// - Throws: GRDB's `DatabaseError`.
  mutating func insert() throws {
    let code = sqlite3_step(statement.sqliteStatement)
    let message = String(cString: sqlite3_errmsg(database.sqliteConnection))
    sqlite3_reset(statement.sqliteStatement)
    sqlite3_clear_bindings(statement.sqliteStatement)
    position = 0
    guard code == SQLITE_DONE else { throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message) }
  }
}
