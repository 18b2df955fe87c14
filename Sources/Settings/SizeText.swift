/// Sizes as operators write them: `64K`, `16M`, `1G`, or bytes.
public enum SizeText {
  /// Each unit with its power of two, the largest one first.
  private static let units = [("G", 30), ("M", 20), ("K", 10), ("", 0)]

  /// Reads a size with a unit in upper or lower case.
  /// - Returns: `nil` unless the text is a number below 2^33 in digits, with or without a unit. The result is below 2^63.
  public static func bytes(_ text: String) -> UInt64? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    let unit = text.dropFirst(digits.count).uppercased()
    guard let count = UInt64(digits), count < 1 << 33, let known = units.first(where: { $0.0 == unit }) else {
      return nil
    }
    return count << UInt64(known.1)
  }

  /// `bytes` in the largest unit that divides it.
  static func text(_ bytes: Int64) -> String {
    let unit = units.first { bytes >= 1 << $0.1 && bytes % (1 << $0.1) == 0 }
    return unit.map { "\(bytes >> $0.1)\($0.0)" } ?? "\(bytes)"
  }
}
