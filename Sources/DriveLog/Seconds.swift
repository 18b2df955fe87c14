import Coverage
import OrderedJSON

extension JSON {
  /// A moment as seconds since the start of the drive, exact to the microsecond.
  public static func seconds(_ time: DriveTime) -> JSON { .decimal(units: time.microseconds, places: 6) }

  /// A length of time in seconds, exact to the microsecond.
  public static func seconds(_ duration: Duration) -> JSON { .decimal(units: duration.inMicroseconds, places: 6) }

  /// Nanoseconds written as milliseconds, nothing rounded.
  public static func milliseconds(nanoseconds: Int64) -> JSON { .decimal(units: nanoseconds, places: 6) }
}

extension DriveTime {
  /// `nil` for what is no time of a drive: not a number, or more than `limit` seconds away.
  init?(seconds: Double, limit: Double = 1e9) {
    guard abs(seconds) < limit else { return nil }
    self.init(microseconds: Int64((seconds * 1e6).rounded()))
  }
}
