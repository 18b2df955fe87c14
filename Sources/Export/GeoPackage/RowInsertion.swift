import GRDB
import GRDBSQLite
import OrderedJSON

/// A statement that inserts rows, whose values are bound one by one, in the order of the columns: GRDB's own arguments cost
/// more than all other work on a row. ``insert()`` reports an error of any of them.
struct RowInsertion {
  private let statement: Statement
  private let database: Database
  /// The number of the parameter that was bound last; SQLite counts from 1.
  private var position: CInt = 0
  /// The first value that SQLite refused: one that is too large, or without memory for a copy of it.
  private var refusal: CInt = SQLITE_OK

  /// `SQLITE_TRANSIENT`, a macro that Swift cannot import: SQLite copies the text or blob before the call returns.
  private static let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init(_ statement: Statement, in database: Database) { (self.statement, self.database) = (statement, database) }

  mutating func bind(_ number: Int64) {
    bind { sqlite3_bind_int64($0, $1, number) }
  }

  mutating func bind(_ number: Double) {
    bind { sqlite3_bind_double($0, $1, number) }
  }

  mutating func bind(_ bytes: [UInt8]) {
    bind { sqlite3_bind_blob($0, $1, bytes, CInt(clamping: bytes.count), Self.copies) }
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
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        bind { sqlite3_bind_text($0, $1, characters.baseAddress, CInt(clamping: characters.count), Self.copies) }
      }
    }
  }

  private mutating func bind(_ value: (OpaquePointer, CInt) -> CInt) {
    position += 1
    let code = value(statement.sqliteStatement, position)
    if refusal == SQLITE_OK { refusal = code }
  }

  /// Inserts the row; the next ``bind(_:)`` begins another one.
  mutating func insert() throws {
    let code = refusal == SQLITE_OK ? sqlite3_step(statement.sqliteStatement) : refusal
    // The message is that of the last call only.
    let message = code == SQLITE_DONE ? nil : String(cString: sqlite3_errmsg(database.sqliteConnection))
    sqlite3_reset(statement.sqliteStatement)
    sqlite3_clear_bindings(statement.sqliteStatement)
    (position, refusal) = (0, SQLITE_OK)
    if let message { throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message) }
  }
}
