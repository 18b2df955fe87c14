extension WallTime {
  /// ISO 8601 in UTC with milliseconds, e.g. `2026-11-20T10:00:00.000Z`; cut off to the millisecond.
  public var iso8601: String {
    let millisecondsOfDay = milliseconds - dayNumber * Self.millisecondsPerDay
    let (year, month, day) = Self.civil(from: dayNumber)
    let seconds = millisecondsOfDay / 1000
    // Years of other lengths go before the rest.
    let isUsual = (0...9999).contains(year)
    let text = String(unsafeUninitializedCapacity: 24) { bytes in
      var end = 0
      func append(_ number: Int64, _ width: Int, _ mark: Unicode.Scalar) {
        var rest = number
        for place in (end..<end + width).reversed() {
          bytes[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
          rest /= 10
        }
        bytes[end + width] = UInt8(ascii: mark)
        end += width + 1
      }
      append(isUsual ? year : 0, 4, "-")
      append(month, 2, "-")
      append(day, 2, "T")
      append(seconds / 3600, 2, ":")
      append(seconds / 60 % 60, 2, ":")
      append(seconds % 60, 2, ".")
      append(millisecondsOfDay % 1000, 3, "Z")
      return end
    }
    return isUsual ? text : Self.padded(year, 4) + text.dropFirst(4)
  }

  /// ISO 8601 in UTC with seconds, e.g. `2026-11-20T10:00:00Z`.
  public var iso8601Seconds: String { iso8601.dropLast(5) + "Z" }

  /// Reads the form that ``iso8601`` writes; the fraction may have any number of digits or be absent. `nil` for other text, and for a time
  /// beyond the year 294,246, which exceeds 64 bits of microseconds.
  public init?(iso8601 text: String) {
    let parts = text.dropLast().split(separator: "T", omittingEmptySubsequences: false)
    guard text.hasSuffix("Z"), parts.count == 2 else { return nil }
    let date = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(Self.number)
    let clock = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    let time = clock[0].split(separator: ":", omittingEmptySubsequences: false).map(Self.number)
    guard date.count == 3, time.count == 3, clock.count <= 2,
      let year = date[0], let month = date[1], let day = date[2], let hour = time[0], let minute = time[1],
      let second = time[2], (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if clock.count == 2 {
      guard let digits = Self.number(clock[1].prefix(6)), Self.isDigits(clock[1].dropFirst(6)) else { return nil }
      fraction = digits * (0..<(6 - min(6, clock[1].count))).reduce(1) { power, _ in power * 10 }
    }
    let dayNumber = Self.dayNumber(year: year, month: month, day: day)
    guard Self.civil(from: dayNumber) == (year, month, day) else { return nil }
    let seconds = dayNumber * 86_400 + hour * 3600 + minute * 60 + second
    guard let microseconds = seconds.exactlyMultiplied(by: 1_000_000)?.exactlyAdding(fraction) else { return nil }
    self.init(microseconds: microseconds)
  }

  private static let millisecondsPerDay: Int64 = 86_400_000

  /// Days since 1970-01-01.
  private var dayNumber: Int64 { milliseconds.flooredDivision(by: Self.millisecondsPerDay) }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func number(_ digits: Substring) -> Int64? {
    isDigits(digits) && digits.count <= 6 ? Int64(digits) : nil
  }

  private static func isDigits(_ text: Substring) -> Bool { text.allSatisfy { ("0"..."9").contains($0) } }

  // The proleptic Gregorian calendar in eras of 400 years = 146097 days. Years begin in March, so that the leap day is the last day of
  // its year; day 0 is 0000-03-01, 719468 days before the Unix epoch.

  private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredDivision(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a day in the proleptic Gregorian calendar, UTC. Coverage has no calendar: it imports only the standard library.
  /// - Parameter dayNumber: Days since 1970-01-01, negative before it.
  public static func civil(from dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = dayNumber + 719_468
    let era = shifted.flooredDivision(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }
}
