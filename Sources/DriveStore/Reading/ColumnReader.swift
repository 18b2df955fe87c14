import Coverage
import GRDB

/// Reads the columns of a row one after the other. Finding them by name costs more than all else that is done with a fence.
struct ColumnReader {
  private let row: Row
  private var index = 0

  init(_ row: Row) { self.row = row }

  /// The value must be of that type: the row is as it was written.
  mutating func next<Value: DatabaseValueConvertible & StatementColumnConvertible>() -> Value {
    defer { index += 1 }
    return row[index]
  }

  /// The value may be of any type.
  mutating func any() -> DatabaseValue {
    defer { index += 1 }
    return row[index]
  }

  /// A wall time in microseconds.
  mutating func time() -> WallTime? { (next() as Int64?).map(WallTime.init(microseconds:)) }
}
