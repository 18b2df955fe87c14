import OrderedJSON

/// A table with a line of names and a line for each record (RFC 4180), in UTF-8 without a byte order mark. A value that is not
/// known is empty.
enum CSV {
  /// - Parameter forEach: Calls its argument with each record.
  static func export<Record>(
    _ columns: [Column<Record>], write: ([UInt8]) throws -> Void,
    forEach: @escaping ((Record) throws -> Void) throws -> Void
  ) throws {
    var text = Array(columns.map(\.name).joined(separator: ",").utf8) + lineEnd
    try forEach { record in
      for (index, column) in columns.enumerated() {
        if index > 0 { text.append(comma) }
        if let value = column.value(record) { append(value, column.kind, to: &text) }
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

  /// A text that begins with one of these is a formula for spreadsheets, which can run a program or send cells elsewhere. Excel
  /// takes the wide forms for the others.
  private static let formulaStarts: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]

  /// `text`, with an apostrophe before it where it would be a formula, or where it has such an apostrophe of its own: a reader that
  /// removes one has the text.
  private static func withoutFormula(_ text: String) -> String {
    guard let start = text.unicodeScalars.first(where: { $0 != "'" }), formulaStarts.contains(start) else {
      return text
    }
    return "'" + text
  }

  /// Appends a field, in quotes where a comma, a quote or a line end needs them; a quote inside is doubled (RFC 4180, 2). A text is
  /// never a formula; numbers stay numbers.
  private static func append(_ value: JSON, _ kind: ColumnKind, to text: inout [UInt8]) {
    let field = (kind == .text ? withoutFormula(value.plainText) : value.plainText).utf8
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
