/// The columns that text takes on a terminal: East Asian wide characters and emoji take two (Unicode Standard Annex 11), all others one.
public enum TerminalColumns {
  /// The columns of a text without controls.
  public static func count(_ text: some StringProtocol) -> Int {
    // Most text is ASCII, of one column a byte.
    let utf8 = text.utf8
    return utf8.allSatisfy { $0 < 0x80 } ? utf8.count : text.reduce(0) { $0 + columns($1) }
  }

  /// The longest beginning of a text that takes at most `columns`.
  public static func prefix(_ text: String, _ columns: Int) -> Substring {
    var (free, end) = (columns, text.startIndex)
    while end < text.endIndex {
      free -= Self.columns(text[end])
      if free < 0 { break }
      end = text.index(after: end)
    }
    return text[..<end]
  }

  /// The first scalar decides: marks that follow it take no column of their own.
  private static func columns(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
    0x20000...0x3FFFD,
  ]
}
