import OrderedJSON

/// A table with a line of names and a line for each fence (RFC 4180), in UTF-8 without a byte order mark. A value that is not
/// known is empty.
enum CSV {
  static func export(_ records: some FenceRecords, write: ([UInt8]) throws -> Void) throws {
    var text = Array(ColumnList.storedTable.map(\.name).joined(separator: ",").utf8) + lineEnd
    try records.forEach { record in
      for (index, column) in ColumnList.storedTable.enumerated() {
        if index > 0 { text.append(comma) }
        if let value = column.value(record) { append(value, to: &text) }
      }
      text += lineEnd
      guard text.count >= 1 << 16 else { return }
      try write(text)
      text.removeAll(keepingCapacity: true)
    }
    if !text.isEmpty { try write(text) }
  }

  private static let lineEnd = Array("\r\n".utf8)
  private static let comma = UInt8(ascii: ",")
  private static let quote = UInt8(ascii: "\"")

  /// Appends a field, in quotes where a comma, a quote or a line end needs them; a quote inside is doubled (RFC 4180, 2).
  static func append(_ value: JSON, to text: inout [UInt8]) {
    let field = value.plainText.utf8
    let isPlain = field.allSatisfy {
      $0 != comma && $0 != quote && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r")
    }
    guard !isPlain else {
      text.append(contentsOf: field)
      return
    }
    text.append(quote)
    for byte in field {
      if byte == quote { text.append(quote) }
      text.append(byte)
    }
    text.append(quote)
  }
}
