/// A line of a QoS server: its text without suffix, and the number of the command that it answers (docs/protocol.md, edge 41).
struct QTPLine: Hashable, Sendable {
  let text: String
  /// `nil` for a line without the suffix ` +ID<n>`.
  let id: Int64?

  private static let mark = " +ID"

  init(_ line: String) {
    let characters = Array(line.utf8)
    let mark = Array(Self.mark.utf8)
    var digits = characters.count
    while digits > 0, (0x30...0x39).contains(characters[digits - 1]) { digits -= 1 }
    let start = digits - mark.count
    guard start >= 0, Array(characters[start..<digits]) == mark,
      let id = Int64(String(decoding: characters[digits...], as: UTF8.self))
    else {
      (text, id) = (line, nil)
      return
    }
    (text, self.id) = (String(decoding: characters[..<start], as: UTF8.self), id)
  }

  /// The words of the text.
  var words: [Substring] { text.split(separator: " ") }
}
