import Coverage

/// The bytes that speed tests used, by calendar day (UTC). A pure value; it outlives the loop.
///
/// Each byte belongs to the day of its wall time, so that a clock that is set back and forth neither frees nor uses up a period. Without a
/// trusted wall time the bytes are undated: they count in every period until the date is known.
public struct DataUsage: Hashable, Sendable, Codable {
  /// Two calendar months and two days.
  private static let mostDays = 64
  /// Bytes charged for an interrupted test while no test has ended yet.
  static let unknownTest: Int64 = 100_000_000

  /// Bytes by day since 1970-01-01.
  private(set) var days: [Int: Int64] = [:]
  /// Bytes without a date.
  private(set) var undated: Int64 = 0
  /// The bytes of the largest test that ended.
  private(set) var largest: Int64 = 0
  /// The bytes of the running test.
  private(set) var current: Int64 = 0

  public init() {}

  // MARK: Entries

  /// Adds `bytes`; a number that is not positive is ignored.
  /// - Parameter wall: The wall time; `nil` while no clock is trusted.
  public mutating func add(_ bytes: Int64, at wall: WallTime?) {
    guard bytes > 0 else { return }
    undated = undated.saturatingAdding(bytes)
    current = current.saturatingAdding(bytes)
    date(at: wall)
  }

  /// Assigns undated bytes to the day of `wall`.
  mutating func date(at wall: WallTime?) {
    guard undated > 0, let day = Self.day(of: wall) else { return }
    days[day] = (days[day] ?? 0).saturatingAdding(undated)
    undated = 0
    while days.count > Self.mostDays, let farthest = days.keys.max(by: { abs($0 - day) < abs($1 - day) }) {
      days[farthest] = nil
    }
  }

  mutating func beginTest() { current = 0 }

  mutating func endTest() {
    largest = max(largest, current)
    current = 0
  }

  /// Charges a test that a restart interrupted: its last bytes are unknown, so it counts as the largest test so far.
  mutating func chargeInterruptedTest(at wall: WallTime?) {
    let counted = current
    add((largest > 0 ? largest : Self.unknownTest).saturatingSubtracting(counted), at: wall)
    current = 0
  }

  // MARK: Figures

  /// Bytes in the day of `wall`, undated ones included; without a date, in the latest day that has any.
  func usedInDay(at wall: WallTime?) -> Int64 {
    guard let day = Self.day(of: wall) ?? days.keys.max() else { return undated }
    return undated.saturatingAdding(days[day] ?? 0)
  }

  /// Bytes in the calendar month of `wall`, undated ones included; without a date, in the latest month that has any.
  func usedInMonth(at wall: WallTime?) -> Int64 {
    guard let day = Self.day(of: wall) ?? days.keys.max() else { return undated }
    let month = CalendarMonth(day: day)
    return days.reduce(undated) { sum, entry in
      CalendarMonth(day: entry.key) == month ? sum.saturatingAdding(entry.value) : sum
    }
  }

  /// The limit that is used up; `nil` when another test may start.
  func hold(by limits: DataLimits, at wall: WallTime?) -> LoopHold? {
    if let month = limits.month, usedInMonth(at: wall) >= month { return .monthLimit }
    if let day = limits.day, usedInDay(at: wall) >= day { return .dayLimit }
    return nil
  }

  private static func day(of wall: WallTime?) -> Int? {
    guard let wall, WallTime.plausible.contains(wall) else { return nil }
    return Int(wall.microseconds / 86_400_000_000)
  }

  // MARK: The coded form

  enum CodingKeys: String, CodingKey { case days, undated, largest, current }

  /// What no usage can have, as text; `nil` for a possible one.
  var flaw: String? {
    guard days.count <= Self.mostDays, days.keys.allSatisfy(CalendarMonth.days.contains) else {
      return "the data usage has impossible days"
    }
    let isPositive = (days.values + [undated, largest, current]).allSatisfy { $0 >= 0 }
    return isPositive ? nil : "the data usage has a negative number of bytes"
  }
}

/// A month of the Gregorian calendar, UTC.
struct CalendarMonth: Hashable, Sendable {
  /// The supported days since 1970-01-01: to the end of 2199.
  static let days = 0...84_005

  let year: Int
  /// 1 to 12.
  let month: Int

  /// - Parameter day: Since 1970-01-01; limited to ``days``.
  init(day: Int) {
    let date = WallTime.civil(from: Int64(min(max(day, Self.days.lowerBound), Self.days.upperBound)))
    (year, month) = (Int(date.year), Int(date.month))
  }
}
