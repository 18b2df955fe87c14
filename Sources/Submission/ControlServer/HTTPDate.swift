import Coverage

/// Reads the three forms of a date in HTTP (RFC 9110, 5.6.7).
enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// `nil` for text in none of these forms.
  static func time(_ text: String) -> WallTime? {
    let parts = text.trimming().split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
    switch (parts.count, parts.last) {
    case (6, "GMT"):  // Sun, 06 Nov 1994 08:49:37 GMT
      return time(day: parts[1], month: parts[2], year: parts[3], clock: parts[4])
    case (4, "GMT"):  // Sunday, 06-Nov-94 08:49:37 GMT
      let date = parts[1].split(separator: "-").map(String.init)
      guard date.count == 3, let short = Int(date[2]), (0...99).contains(short) else { return nil }
      return time(day: date[0], month: date[1], year: String(short < 70 ? 2000 + short : 1900 + short), clock: parts[2])
    case (5, _):  // Sun Nov  6 08:49:37 1994
      return time(day: parts[2], month: parts[1], year: parts[4], clock: parts[3])
    default: return nil
    }
  }

  /// `nil` for text that is no date.
  static func time(day: String, month: String, year: String, clock: String) -> WallTime? {
    guard let index = months.firstIndex(of: month), (1...2).contains(day.count) else { return nil }
    let month = String(index + 1)
    return WallTime(iso8601: "\(year)-\(month)-\(day)T\(clock)Z")
  }
}

extension String {
  /// Without spaces and tabs at both ends.
  func trimming() -> String {
    String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }
}

/// The `Date` of an answer of the control server, with the time of its arrival.
public struct ServerDateReading: Hashable, Sendable {
  /// In whole seconds, cut off (RFC 9110, 6.6.1).
  public let date: WallTime
  /// When the answer was complete.
  public let received: ContinuousClock.Instant
  /// From the start of the request to the answer.
  public let roundTrip: Duration
}
