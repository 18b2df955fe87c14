/// Reads RFC 8259 JSON into `JSONValue`, strictly: nothing behind the value, no trailing commas, no `NaN`. Foundation's
/// parsers lose the order of members and the digits of numbers, which tests compare.
struct JSONParser {
  /// An error, with its byte.
  struct Failure: Error, Hashable {
    let message: String
    let offset: Int
  }

  /// Deeper nesting is refused, because the parser recurses and the bytes are untrusted.
  static let depthLimit = 64

  private let bytes: [UInt8]
  private var position = 0

  /// A stored text; null without one.
  static func parse(stored text: String?) throws(Failure) -> JSONValue {
    guard let text else { return .null }
    return try parse(Array(text.utf8))
  }

  static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    var parser = JSONParser(bytes: bytes)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.failure("unexpected text behind the value") }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func failure(_ message: String) -> Failure { Failure(message: message, offset: position) }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    guard depth < Self.depthLimit else { throw failure("nested too deeply") }
    skipSpace()
    guard let byte = next else { throw failure("unexpected end") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
    let end = position + word.utf8.count
    guard end <= bytes.count, bytes[position..<end].elementsEqual(word.utf8) else { throw failure("unknown word") }
    position = end
    return value
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONValue {
    position += 1
    var members: [JSONValue.Member] = []
    skipSpace()
    if skip(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw failure("expected a key") }
      let key = try string()
      skipSpace()
      guard skip(UInt8(ascii: ":")) else { throw failure("expected a colon") }
      members.append(.init(key: key, value: try value(depth: depth + 1)))
      skipSpace()
      if skip(UInt8(ascii: ",")) { continue }
      guard skip(UInt8(ascii: "}")) else { throw failure("expected a comma or the end of the object") }
      return .object(members)
    }
  }

  private mutating func array(depth: Int) throws(Failure) -> JSONValue {
    position += 1
    var elements: [JSONValue] = []
    skipSpace()
    if skip(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if skip(UInt8(ascii: ",")) { continue }
      guard skip(UInt8(ascii: "]")) else { throw failure("expected a comma or the end of the array") }
      return .array(elements)
    }
  }

  private mutating func digits() throws(Failure) {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw failure("expected a digit") }
  }

  private mutating func number() throws(Failure) -> JSONValue {
    let start = position
    _ = skip(UInt8(ascii: "-"))
    if !skip(UInt8(ascii: "0")) { try digits() }
    if skip(UInt8(ascii: ".")) { try digits() }
    if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
      if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
      try digits()
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func string() throws(Failure) -> String {
    position += 1
    var raw: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: raw, as: UTF8.self) else { throw failure("not UTF-8") }
        return text
      case UInt8(ascii: "\\"): raw += try escape()
      case 0..<0x20: throw failure("control character in a string")
      default: raw.append(byte)
      }
    }
    throw failure("unexpected end of a string")
  }

  private mutating func escape() throws(Failure) -> [UInt8] {
    guard let byte = next else { throw failure("unexpected end of a string") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "u"): return Array(String(try unicodeScalar()).utf8)
    default: throw failure("unknown escape")
    }
  }

  private mutating func unicodeScalar() throws(Failure) -> Unicode.Scalar {
    let unit = try hexUnit()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard (0xD800..<0xDC00).contains(unit), skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) else {
      throw failure("lone surrogate")
    }
    let low = try hexUnit()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
    else { throw failure("lone surrogate") }
    return scalar
  }

  private mutating func hexUnit() throws(Failure) -> UInt32 {
    guard position + 4 <= bytes.count else { throw failure("unexpected end of a string") }
    let digits = bytes[position..<position + 4]
    guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw failure("expected four hexadecimal digits") }
    position += 4
    return unit
  }
}
