extension JSON {
  /// The value as JSON text on one line, without spaces (RFC 8259).
  public var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .string(let string): Self.write(string, to: &text)
    case .integer(let integer): text += String(integer)
    case .decimal(let units, let places): text += Self.decimalText(units: units, places: places)
    case .number(let number): text += number.isFinite ? Self.plainText(number) : "null"
    case .bool(let bool): text += bool ? "true" : "false"
    case .null: text += "null"
    case .array(let elements): Self.write(elements, between: ("[", "]"), to: &text) { $0.write(to: &$1) }
    case .object(let members):
      Self.write(members, between: ("{", "}"), to: &text) { member, text in
        Self.write(member.key, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], between marks: (String, String), to text: inout String,
    element write: (Element, inout String) -> Void
  ) {
    text += marks.0
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      write(element, &text)
    }
    text += marks.1
  }

  private static func write(_ string: String, to text: inout String) {
    text += "\""
    if string.utf8.allSatisfy(isPlain) { text += string } else { escape(string, to: &text) }
    text += "\""
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func escape(_ string: String, to text: inout String) {
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
  }

  private static func decimalText(units: Int64, places: Int) -> String {
    let digits = String(units.magnitude)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let sign = units < 0 ? "-" : ""
    var fraction = padded.suffix(places)
    while fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
    return sign + padded.dropLast(places) + (fraction.isEmpty ? "" : "." + fraction)
  }

  /// Swift writes 0.00001 as `1e-05`: valid JSON, but some readers of coordinates stumble over it.
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
