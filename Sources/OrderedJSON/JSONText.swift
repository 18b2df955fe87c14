extension JSON {
  /// The value as JSON text on one line, without spaces (RFC 8259).
  public var text: String {
    var text: [UInt8] = []
    write(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the value as ``text``.
  public func write(to text: inout [UInt8]) {
    switch self {
    case .string(let string): Self.write(string, to: &text)
    case .integer(let integer): Self.write(units: integer, places: 0, to: &text)
    case .decimal(let units, let places): Self.write(units: units, places: places, to: &text)
    case .number(let number): text += (number.isFinite ? Self.plainText(number) : "null").utf8
    case .bool(let bool): text += (bool ? "true" : "false").utf8
    case .null: text += "null".utf8
    case .array(let elements): Self.write(elements, between: ("[", "]"), to: &text) { $0.write(to: &$1) }
    case .object(let members):
      Self.write(members, between: ("{", "}"), to: &text) { member, text in
        Self.write(member.key, to: &text)
        text.append(UInt8(ascii: ":"))
        member.value.write(to: &text)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], between marks: (Unicode.Scalar, Unicode.Scalar), to text: inout [UInt8],
    element write: (Element, inout [UInt8]) -> Void
  ) {
    text.append(UInt8(ascii: marks.0))
    for (index, element) in elements.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      write(element, &text)
    }
    text.append(UInt8(ascii: marks.1))
  }

  private static func write(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    let isWritten = string.utf8.withContiguousStorageIfAvailable { bytes in
      guard bytes.allSatisfy(isPlain) else { return false }
      text.append(contentsOf: bytes)
      return true
    }
    if isWritten != true { text += escaped(string).utf8 }
    text.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func escaped(_ string: String) -> String {
    var text = ""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20:
        let hex = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The digits come from the last to the first, so they are collected from the end of a block on the stack.
  private static func write(units: Int64, places: Int, to text: inout [UInt8]) {
    var (rest, places) = (units.magnitude, max(0, places))
    while places > 1, rest % 10 == 0 { (rest, places) = (rest / 10, places - 1) }
    let mostDigits = 20
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: mostDigits + places + 2) { characters in
      var start = characters.endIndex
      func prepend(_ character: UInt8) {
        start -= 1
        characters[start] = character
      }
      func prependDigit() {
        prepend(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      }
      if places > 0 {
        for _ in 0..<places { prependDigit() }
        prepend(UInt8(ascii: "."))
      }
      repeat { prependDigit() } while rest > 0
      if units < 0 { prepend(UInt8(ascii: "-")) }
      text.append(contentsOf: UnsafeBufferPointer(rebasing: characters[start...]))
    }
  }

  /// The number without an exponent where it is between 1e-12 and 1. Swift writes 0.00001 as `1e-05`: valid JSON, but some readers of
  /// coordinates reject it.
  private static func plainText(_ number: Double) -> String {
    let shortest = number.description
    guard let mark = shortest.firstIndex(of: "e"), let exponent = Int(shortest[shortest.index(after: mark)...]),
      (-12...0).contains(exponent)
    else { return shortest }
    let mantissa = shortest[..<mark]
    let digits = mantissa.filter(\.isNumber).reversed().drop { $0 == "0" }.reversed()
    let sign = number < 0 ? "-" : ""
    return sign + "0." + String(repeating: "0", count: -exponent - 1) + String(digits)
  }
}
