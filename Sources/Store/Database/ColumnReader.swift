import Coverage
import GRDB

/// Reads the columns of a row in order. Finding them by name would cost more than all other work on a fence.
struct ColumnReader {
  private let row: Row
  private var index = 0

  init(_ row: Row) { self.row = row }

  /// The next value, which must have the expected type: only for intact rows.
  mutating func next<Value: DatabaseValueConvertible & StatementColumnConvertible>() -> Value {
    defer { index += 1 }
    return row[index]
  }

  /// The next value, of any type.
  mutating func any() -> DatabaseValue {
    defer { index += 1 }
    return row[index]
  }

  /// A wall time in microseconds since the epoch.
  mutating func time() -> WallTime? { (next() as Int64?).map(WallTime.init(microseconds:)) }
}
