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
