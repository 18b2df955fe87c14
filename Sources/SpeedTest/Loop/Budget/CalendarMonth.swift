import Coverage

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
