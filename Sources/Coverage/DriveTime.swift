/// A moment of a drive: microseconds since the drive's start, on a clock that never steps (CLOCK_BOOTTIME in a live drive).
///
/// Order and durations come from here alone. Wall time is stamped once a drive and added when a figure leaves the program.
///
/// Arithmetic on times and durations never traps: what lies beyond 292,000 years stops there.
public struct DriveTime: Hashable, Comparable, Sendable {
  /// Microseconds since the start of the drive; negative before it.
  public let microseconds: Int64

  /// The start of the drive.
  public static let start = DriveTime(microseconds: 0)

  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The moment `duration` after the start, to the microsecond, the rest cut off.
  public init(_ duration: Duration) {
    self.microseconds = duration.inMicroseconds
  }

  /// The time since the start of the drive.
  public var sinceStart: Duration { .microseconds(microseconds) }

  public static func < (left: DriveTime, right: DriveTime) -> Bool {
    left.microseconds < right.microseconds
  }

  public static func + (time: DriveTime, duration: Duration) -> DriveTime {
    DriveTime(microseconds: time.microseconds.saturatingAdding(duration.inMicroseconds))
  }

  /// The time from `right` to `left`; negative when `left` is the earlier one.
  public static func - (left: DriveTime, right: DriveTime) -> Duration {
    .microseconds(left.microseconds.saturatingSubtracting(right.microseconds))
  }
}

/// A moment on the wall clock: microseconds since the Unix epoch, UTC.
public struct WallTime: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z.
  public let microseconds: Int64

  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// No clock is right that shows a time before this program was made (2026-11-01T00:00:00Z).
  public static let earliestTrusted = WallTime(microseconds: 1_793_491_200_000_000)

  /// Whole milliseconds since the epoch, rounded towards the past.
  public var milliseconds: Int64 { microseconds.flooredDivision(by: 1000) }

  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.microseconds < right.microseconds
  }

  public static func + (wall: WallTime, time: DriveTime) -> WallTime {
    WallTime(microseconds: wall.microseconds.saturatingAdding(time.microseconds))
  }

  /// The drive time of this moment in a drive that started at `start`.
  public func since(_ start: WallTime) -> DriveTime {
    DriveTime(microseconds: microseconds.saturatingSubtracting(start.microseconds))
  }

  /// The time from `right` to `left`; negative when `left` is the earlier one.
  public static func - (left: WallTime, right: WallTime) -> Duration {
    .microseconds(left.microseconds.saturatingSubtracting(right.microseconds))
  }
}

extension Int64 {
  func flooredDivision(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
