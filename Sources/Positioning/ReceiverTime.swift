import Coverage

/// Reads gpsd's time stamps: ISO 8601 in UTC, `2026-11-20T10:00:00.000Z`. 60 is a valid second, because receivers report leap seconds.
enum ReceiverTime {
  /// `0` stands for a digit.
  private static let form = "0000-00-00T00:00:00"
  private static let longestFraction = 18

  /// `nil` for text in another form, and for a time outside of the years 1 to 9999. Digits beyond the microsecond are cut off.
  static func parse(_ text: String) -> WallTime? {
    let bytes = Array(text.utf8)
    guard bytes.last == UInt8(ascii: "Z"), bytes.count > form.utf8.count, !text.hasPrefix("0000"),
      zip(bytes, form.utf8).allSatisfy({ $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 })
    else { return nil }
    let fraction = bytes[form.utf8.count..<bytes.count - 1]
    let isFraction =
      fraction.first == UInt8(ascii: ".") && (2...longestFraction + 1).contains(fraction.count)
      && fraction.dropFirst().allSatisfy(isDigit)
    return fraction.isEmpty || isFraction ? WallTime(iso8601: text) : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
