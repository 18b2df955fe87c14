import Coverage

/// gpsd's time stamps: ISO 8601 in UTC, `2026-11-20T10:00:00.000Z`.
enum ReceiverTime {
  /// `nil` for anything that is not written like that, or is no moment of the years 1 to 9999.
  static func parse(_ text: String) -> WallTime? {
    guard text.last == "Z" else { return nil }
    let halves = text.dropLast().split(separator: "T", omittingEmptySubsequences: false)
    guard halves.count == 2, let days = days(halves[0]), let microseconds = microsecondsOfDay(halves[1]) else {
      return nil
    }
    return WallTime(microseconds: days * 86_400_000_000 + microseconds)
  }

  private static func days(_ date: Substring) -> Int64? {
    let parts = date.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let year = digits(parts[0], count: 4, 1...9999),
      let month = digits(parts[1], count: 2, 1...12), let day = digits(parts[2], count: 2, 1...31)
    else { return nil }
    return daysSinceEpoch(year: year, month: month, day: day)
  }

  /// 60 is a second: receivers show leap seconds.
  private static func microsecondsOfDay(_ time: Substring) -> Int64? {
    let parts = time.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = digits(parts[0], count: 2, 0...23),
      let minute = digits(parts[1], count: 2, 0...59)
    else { return nil }
    let second = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = digits(second[0], count: 2, 0...60), let fraction = microseconds(second.dropFirst().first ?? "0")
    else { return nil }
    return ((hour * 60 + minute) * 60 + whole) * 1_000_000 + fraction
  }

  /// The digits behind the point, those beyond the sixth cut off.
  private static func microseconds(_ fraction: Substring) -> Int64? {
    guard (1...18).contains(fraction.utf8.count) else { return nil }
    let six = fraction.prefix(6) + String(repeating: "0", count: max(0, 6 - fraction.count))
    return digits(fraction, count: fraction.utf8.count, 0...Int64.max).flatMap { _ in Int64(six) }
  }

  private static func digits(_ text: Substring, count: Int, _ range: ClosedRange<Int64>) -> Int64? {
    guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(text)
    else { return nil }
    return range.contains(value) ? value : nil
  }

  /// Days of the Gregorian calendar since 1970-01-01, counted in years that begin in March.
  private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let marchMonth = (month + 9) % 12
    let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
    return marchYear * 365 + leapDays + (marchMonth * 153 + 2) / 5 + day - 1 - 719_468
  }
}
