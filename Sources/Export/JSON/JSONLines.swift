import OrderedJSON

/// One fence a line, as an object with those columns that have a value.
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
