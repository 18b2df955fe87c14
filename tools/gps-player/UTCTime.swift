import Foundation

/// A time in UTC, in whole milliseconds, in the notations of receivers and gpsd.
struct UTCTime: Hashable, Sendable {
  let milliseconds: Int64

  static func now() -> UTCTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UTCTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  func advanced(bySeconds seconds: Double) -> UTCTime {
    UTCTime(milliseconds: milliseconds + Int64((seconds * 1000).rounded()))
  }

  private var parts: tm {
    var seconds = time_t((Double(milliseconds) / 1000).rounded(.down))
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return parts
  }

  private var fraction: String { "." + padded(Int((milliseconds % 1000 + 1000) % 1000), 3) }

  private func padded(_ value: some BinaryInteger, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// `hhmmss.sss`
  var nmeaTime: String {
    let parts = parts
    return padded(parts.tm_hour, 2) + padded(parts.tm_min, 2) + padded(parts.tm_sec, 2) + fraction
  }

  /// `ddmmyy`
  var nmeaDate: String {
    let parts = parts
    return padded(parts.tm_mday, 2) + padded(parts.tm_mon + 1, 2) + padded(parts.tm_year % 100, 2)
  }

  /// `2026-11-20T10:00:00.000Z`
  var iso: String {
    let parts = parts
    let date = [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
    let time = [padded(parts.tm_hour, 2), padded(parts.tm_min, 2), padded(parts.tm_sec, 2)]
    return date.joined(separator: "-") + "T" + time.joined(separator: ":") + fraction + "Z"
  }
}
