import OrderedJSON

/// Columns with the tags around their values as bytes, which are the same for each record.
struct XMLFields<Record>: Sendable {
  private let fields: [(column: Column<Record>, open: [UInt8], close: [UInt8])]
  /// The form of a value in the format.
  private let form: @Sendable (JSON) -> JSON

  /// - Parameter tags: Those around the values of a column, by its name.
  init(
    _ columns: [Column<Record>], form: @escaping @Sendable (JSON) -> JSON,
    tags: (String) -> (open: String, close: String)
  ) {
    self.form = form
    fields = columns.map { ($0, Array(tags($0.name).open.utf8), Array(tags($0.name).close.utf8)) }
  }

  /// Writes the values that a record has.
  func write(_ record: Record, to text: inout XMLWriter) {
    for (column, open, close) in fields {
      if let value = column.value(record) { text.element(open: open, form(value), close: close) }
    }
  }
}

/// Writes XML text (XML 1.0, UTF-8) into bytes. The caller passes them on from time to time (``flush(to:isLast:)``), so that
/// memory does not grow with the document. It does not check that tags are closed.
struct XMLWriter {
  private(set) var bytes: [UInt8] = []

  /// Appends markup unchanged.
  mutating func raw(_ markup: String) { bytes.append(contentsOf: markup.utf8) }

  /// Appends `<name>text</name>`; `name` can have attributes. Appends nothing for `nil`.
  mutating func element(_ name: String, _ text: String?) {
    guard let text else { return }
    raw("<\(name)>")
    self.text(text)
    raw("</\(name.prefix { $0 != " " })>")
  }

  /// Appends a value between two tags, which are ready as bytes: an export writes them for each column of each fence.
  mutating func element(open: [UInt8], _ value: JSON, close: [UInt8]) {
    bytes.append(contentsOf: open)
    if case .string(let text) = value {
      self.text(text)
    } else if case .object = value {
      text(value.text)
    } else {
      // Numbers and booleans have nothing to escape.
      value.write(to: &bytes)
    }
    bytes.append(contentsOf: close)
  }

  /// Appends text for an element or for an attribute in double quotes. Characters that XML 1.0 forbids become U+FFFD.
  mutating func text(_ text: String) {
    // Nearly all texts need no escape, and bytes are much faster to look at than scalars.
    let isPlain = text.utf8.allSatisfy {
      (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">")
        && $0 != UInt8(ascii: "\"")
    }
    guard !isPlain else { return raw(text) }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": raw("&amp;")
      case "<": raw("&lt;")
      case ">": raw("&gt;")
      case "\"": raw("&quot;")
      // As references they survive the normalisation of attributes and of line ends (XML 1.0, 2.11 and 3.3.3).
      case "\t", "\n", "\r": raw("&#\(scalar.value);")
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: raw("\u{FFFD}")
      default: bytes.append(contentsOf: Character(scalar).utf8)
      }
    }
  }

  /// Passes the text to `write` when it is long enough for a call, and at the end.
  mutating func flush(to write: ([UInt8]) throws -> Void, isLast: Bool = false) throws {
    guard bytes.count >= 1 << 16 || isLast else { return }
    try write(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}
