/// Texts inside of HTML's `script` and `style` elements. HTML has no escape for them: the first `</script` ends the element,
/// wherever it stands.
enum ScriptText {
  /// JSON text with the same meaning and without `<`, and without U+2028 and U+2029, which old scripts parse as line ends.
  static func json(_ text: [UInt8]) -> [UInt8] {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      let byte = text[index]
      if byte == UInt8(ascii: "<") {
        // In JSON it occurs in strings only.
        escaped += Array("\\u003c".utf8)
      } else if byte == 0xE2, index + 2 < text.count, text[index + 1] == 0x80, [0xA8, 0xA9].contains(text[index + 2]) {
        escaped += Array((text[index + 2] == 0xA8 ? "\\u2028" : "\\u2029").utf8)
        index += 2
      } else {
        escaped.append(byte)
      }
      index += 1
    }
    return escaped
  }

  /// The text of a library with a backslash in each `</s`, as in `<\/script` and `<\/style`. It means the same in the strings
  /// and regular expressions of scripts where it can occur.
  static func library(_ text: [UInt8]) -> [UInt8] {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.count)
    for (index, byte) in text.enumerated() {
      if byte == UInt8(ascii: "/"), index > 0, text[index - 1] == UInt8(ascii: "<"),
        index + 1 < text.count, text[index + 1] | 0x20 == UInt8(ascii: "s")
      {
        escaped.append(UInt8(ascii: "\\"))
      }
      escaped.append(byte)
    }
    return escaped
  }
}
