/// The members of one line's JSON object, found but not yet read.
///
/// gpsd's lines are not always JSON: `nan` and `inf` from old or foreign servers, commas before a bracket from pass-through
/// devices, class names invented by them (spec/gpsd.md 4 and 5). So values are only delimited here, and read when asked for;
/// one that cannot be read is absent.
struct JSONObject {
  private var members: [String: ArraySlice<UInt8>] = [:]

  /// `nil` when `line` is no object from its first brace to its last.
  init?(_ line: ArraySlice<UInt8>) {
    var reader = JSONReader(line)
    guard reader.take("{") else { return nil }
    while !reader.take("}") {
      guard let key = reader.string(), reader.take(":"), let value = reader.skipValue() else { return nil }
      members[key] = value
      guard reader.take(",") || reader.next == UInt8(ascii: "}") else { return nil }
    }
    guard reader.next == nil else { return nil }
  }

  /// A finite number; `nil` for anything else.
  func number(_ key: String) -> Double? {
    guard let text = members[key], text.allSatisfy(Self.isOfNumber) else { return nil }
    return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// A number without a fraction.
  func integer(_ key: String) -> Int? {
    number(key).flatMap(Int.init(exactly:))
  }

  func bool(_ key: String) -> Bool? {
    switch members[key].map({ String(decoding: $0, as: UTF8.self) }) {
    case "true": true
    case "false": false
    default: nil
    }
  }

  func string(_ key: String) -> String? {
    guard let text = members[key] else { return nil }
    var reader = JSONReader(text)
    return reader.string()
  }

  /// The objects in an array; whatever else it holds is left out.
  func objects(_ key: String) -> [JSONObject] {
    guard let text = members[key] else { return [] }
    var reader = JSONReader(text)
    guard reader.take("[") else { return [] }
    var objects: [JSONObject] = []
    while !reader.take("]"), let element = reader.skipValue() {
      if let object = JSONObject(element) { objects.append(object) }
      _ = reader.take(",")
    }
    return objects
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default:
      false
    }
  }
}

/// Walks over the bytes of JSON text. Never recurses, so that no nesting of brackets can exhaust the stack.
struct JSONReader {
  private let whole: ArraySlice<UInt8>
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    whole = bytes
    rest = bytes
  }

  /// The next byte that is no white space, which stays where it is.
  var next: UInt8? {
    mutating get {
      rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      return rest.first
    }
  }

  /// Takes this character if it is the next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  /// The next value as it stands; brackets are matched, what is inside them is not looked at.
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

/// Backslash escapes of JSON strings. An escape that means nothing stands for its own letter.
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

  /// Four hexadecimal digits; the replacement character where there are none.
  private static func codeUnit(_ scalars: inout Substring.UnicodeScalarView) -> UInt16 {
    guard let unit = UInt16(String(scalars.prefix(4)), radix: 16) else { return 0xFFFD }
    scalars = scalars.dropFirst(4)
    return unit
  }
}
