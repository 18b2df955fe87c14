/// A month of the Gregorian calendar, UTC.
struct CalendarMonth: Hashable, Sendable {
  /// The supported days since 1970-01-01: to the end of 2199.
  static let days = 0...84_005

  let year: Int
  /// 1 to 12.
  let month: Int

  /// - Parameter day: Since 1970-01-01; limited to ``days``.
  init(day: Int) {
    var rest = min(max(day, Self.days.lowerBound), Self.days.upperBound)
    var year = 1970
    while rest >= Self.length(ofYear: year) {
      rest -= Self.length(ofYear: year)
      year += 1
    }
    var month = 1
    while rest >= Self.length(ofMonth: month, year) {
      rest -= Self.length(ofMonth: month, year)
      month += 1
    }
    (self.year, self.month) = (year, month)
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }

  private static func length(ofYear year: Int) -> Int { isLeap(year) ? 366 : 365 }

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
