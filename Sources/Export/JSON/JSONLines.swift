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
