/// A moment of a drive: microseconds since the drive's start, on a clock that never steps (CLOCK_BOOTTIME in a live drive).
///
/// All order and all durations come from drive time. Wall time is stamped once a drive and added when a figure leaves the program.
///
/// Arithmetic on times and durations saturates at 292,000 years; it never traps.
public struct DriveTime: Hashable, Comparable, Sendable {
  /// Microseconds since the start of the drive; negative before it.
  public let microseconds: Int64

  /// The start of the drive.
  public static let start = DriveTime(microseconds: 0)

  /// - Parameter microseconds: Since the start of the drive; negative before it.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The moment `duration` after the start, cut off to the microsecond.
  public init(_ duration: Duration) {
    self.microseconds = duration.inMicroseconds
  }

  /// The time since the start of the drive.
  public var sinceStart: Duration { .microseconds(microseconds) }

  /// The earlier moment is less.
  public static func < (left: DriveTime, right: DriveTime) -> Bool {
    left.microseconds < right.microseconds
  }

  /// The moment `duration` after `time`; before it for a negative duration.
  public static func + (time: DriveTime, duration: Duration) -> DriveTime {
    DriveTime(microseconds: time.microseconds.saturatingAdding(duration.inMicroseconds))
  }

  /// The time from `right` to `left`; negative when `left` is the earlier one.
  public static func - (left: DriveTime, right: DriveTime) -> Duration {
    .microseconds(left.microseconds.saturatingSubtracting(right.microseconds))
  }
}
