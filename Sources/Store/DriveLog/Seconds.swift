import Coverage
import OrderedJSON

extension JSON {
  /// A time as seconds since the start of the drive, exact to the microsecond.
  public static func seconds(_ time: DriveTime) -> JSON { .decimal(units: time.microseconds, places: 6) }

  /// A duration in seconds, exact to the microsecond.
  public static func seconds(_ duration: Duration) -> JSON { .decimal(units: duration.inMicroseconds, places: 6) }

  /// Nanoseconds in milliseconds, without rounding.
  public static func milliseconds(nanoseconds: Int64) -> JSON { .decimal(units: nanoseconds, places: 6) }
}

extension DriveTime {
  /// The time to the nearest microsecond; `nil` for NaN, and for `limit` seconds or more in either direction.
  init?(seconds: Double, limit: Double = 1e9) {
    guard abs(seconds) < limit else { return nil }
    self.init(microseconds: Int64((seconds * 1e6).rounded()))
  }
}
