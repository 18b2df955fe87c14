/// Reads the bytes of JSON text from left to right. It never recurses, so that nested brackets cannot exhaust the stack.
struct JSONReader {
  private let whole: ArraySlice<UInt8>
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    whole = bytes
    rest = bytes
  }

  /// The next byte that is not white space, without consuming it.
  var next: UInt8? {
    mutating get {
      rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      return rest.first
    }
  }

  /// Skips this character if it comes next.
  /// - Returns: Whether it did.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  /// The bytes of the next value. Brackets are matched, but their contents are not checked.
  mutating func skipValue() -> ArraySlice<UInt8>? {
    guard let first = next else { return nil }
    let start = rest.startIndex
    switch first {
    case UInt8(ascii: "\""): guard skipString() else { return nil }
    case UInt8(ascii: "{"), UInt8(ascii: "["): guard skipBrackets() else { return nil }
    default: rest = rest.drop { !Self.endsLiteral($0) }
    }
    let value = whole[start..<rest.startIndex]
    return value.isEmpty ? nil : value
  }

  /// The next value if it is a string, with its escapes resolved.
  mutating func string() -> String? {
    guard next == UInt8(ascii: "\"") else { return nil }
    let start = rest.startIndex + 1
    guard skipString() else { return nil }
    return JSONEscapes.resolve(whole[start..<rest.startIndex - 1])
  }

  private mutating func skipString() -> Bool {
    rest.removeFirst()
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return true }
      if byte == UInt8(ascii: "\\"), rest.popFirst() == nil { return false }
    }
    return false
  }

  private mutating func skipBrackets() -> Bool {
    var depth = 0
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "\""):
        guard skipString() else { return false }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      rest.removeFirst()
      if depth == 0 { return true }
    }
    return false
  }

  private static func endsLiteral(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: " "), UInt8(ascii: "\t"): true
    default: false
    }
  }
}

/// Resolves backslash escapes of JSON strings. An unknown escape stands for its own letter.
enum JSONEscapes {
  static func resolve(_ text: ArraySlice<UInt8>) -> String {
    guard text.contains(UInt8(ascii: "\\")) else { return String(decoding: text, as: UTF8.self) }
    var units: [UInt16] = []
    var scalars = String(decoding: text, as: UTF8.self).unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      if scalar == "\\", let letter = scalars.popFirst() {
        units += letter == "u" ? [codeUnit(&scalars)] : String(named[letter] ?? letter).utf16.map { $0 }
      } else {
        units += String(scalar).utf16
      }
    }
    return String(decoding: units, as: UTF16.self)
  }

  private static let named: [Unicode.Scalar: Unicode.Scalar] = [
    "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
  ]

  /// The code unit of four hexadecimal digits; the replacement character for other text.
  private static func codeUnit(_ scalars: inout Substring.UnicodeScalarView) -> UInt16 {
    let digits = scalars.prefix(4)
    guard digits.count == 4, digits.allSatisfy(\.properties.isASCIIHexDigit),
      let unit = UInt16(String(digits), radix: 16)
    else { return 0xFFFD }
    scalars = scalars.dropFirst(4)
    return unit
  }
}
