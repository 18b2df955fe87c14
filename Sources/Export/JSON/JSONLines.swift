import OrderedJSON

/// JSON Lines: one record a line, as an object with those columns that have a value. A value has the same key in
/// a stored and in a replayed fence (docs/export.md).
enum JSONLines {
  /// - Parameter forEach: Calls its argument with each record.
  static func export<Record>(
    _ columns: [Column<Record>], write: ([UInt8]) throws -> Void,
    forEach: @escaping ((Record) throws -> Void) throws -> Void
  ) throws {
    var text = JSONWriter()
    try forEach { record in
      text.beginObject()
      text.members(columns, of: record)
      text.endObject()
      text.raw("\n")
      try text.flush(to: write)
    }
    try text.flush(to: write, isLast: true)
  }
}

extension JSONWriter {
  /// Passes the text to `write` when it has 64 KiB, and at the end: few calls, and little memory.
  mutating func flush(to write: ([UInt8]) throws -> Void, isLast: Bool = false) throws {
    guard bytes.count >= 1 << 16 || isLast else { return }
    try write(bytes)
    removeAll()
  }

  /// Writes the values of `columns` that a record has, as members of the object that is open.
  mutating func members<Record>(_ columns: [Column<Record>], of record: Record) {
    for column in columns { member(encodedKey: column.key, column.value(record)) }
  }
}
