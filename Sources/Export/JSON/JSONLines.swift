import OrderedJSON

/// JSON Lines: one fence a line, as an object with those columns that have a value. A value has the same key in
/// a stored and in a replayed fence (docs/export.md).
enum JSONLines {
  static func export(_ records: some FenceRecords, write: ([UInt8]) throws -> Void) throws {
    var text = JSONWriter()
    try records.forEach { record in
      text.beginObject()
      text.members(ColumnList.line, of: record)
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

  /// Writes the values of `columns` that a fence has, as members of the object that is open.
  mutating func members(_ columns: [Column], of record: FenceRecord) {
    for column in columns { member(encodedKey: column.key, column.value(record)) }
  }
}
