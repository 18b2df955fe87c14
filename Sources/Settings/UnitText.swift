/// Durations as operators write them: `250ms`, `10s`, `5m`, `4h`, `7d`.
public enum DurationText {
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  /// Reads one count with one unit, in lower case; `1h30m`, signs and fractions are refused.
  /// - Returns: `nil` unless the text is digits and a unit. The count is at most 10^9, so that no product overflows.
  public static func duration(_ text: String) -> Duration? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    let unit = text.dropFirst(digits.count)
    guard let count = Int64(digits), count <= 1_000_000_000, let known = units.first(where: { $0.name == unit })
    else { return nil }
    return .milliseconds(count * known.milliseconds)
  }

  /// `seconds` in the largest unit that divides it, rounded to milliseconds; less than half of one is `0s`.
  public static func text(_ seconds: Double) -> String {
    let milliseconds = Int64((seconds * 1000).rounded())
    let unit = units.last { milliseconds % $0.milliseconds == 0 && milliseconds >= $0.milliseconds }
    guard let unit else { return "0s" }
    return "\(milliseconds / unit.milliseconds)\(unit.name)"
  }
}

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
