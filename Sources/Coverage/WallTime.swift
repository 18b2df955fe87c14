/// A moment on the wall clock: microseconds since the Unix epoch, UTC. Arithmetic saturates at the range of 64 bits.
public struct WallTime: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z.
  public let microseconds: Int64

  /// - Parameter microseconds: Since 1970-01-01T00:00:00Z; negative before it.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// 2026-11-01T00:00:00Z, before this program was built: a clock that shows an earlier time is wrong.
  public static let earliestTrusted = WallTime(microseconds: 1_793_491_200_000_000)

  /// The 1024 weeks from ``earliestTrusted`` on. A clock that shows a time outside of them is wrong: a receiver that is off by a
  /// rollover of the GPS week, in either direction, always shows such a time.
  public static let plausible: Range<WallTime> = earliestTrusted..<earliestTrusted.adding(.seconds(1024 * 7 * 86_400))

  /// Whole milliseconds since the epoch, rounded towards the past.
  public var milliseconds: Int64 { microseconds.flooredDivision(by: 1000) }

  /// The earlier moment is less.
  public static func < (left: WallTime, right: WallTime) -> Bool {
    left.microseconds < right.microseconds
  }

  /// The wall time of `time` in a drive that started at `wall`.
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

  /// The moment `duration` later, cut off to the microsecond; earlier for a negative duration.
  public func adding(_ duration: Duration) -> WallTime { self + DriveTime(duration) }

  /// The absolute difference in microseconds.
  func gap(to other: WallTime) -> Int64 {
    Int64(clamping: microseconds.saturatingSubtracting(other.microseconds).magnitude)
  }
}

extension WallTime: Codable {
  /// Reads the microseconds as one number.
  public init(from decoder: any Decoder) throws {
    self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  /// Writes the microseconds as one number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(microseconds)
  }
}

extension Int64 {
  /// The quotient, rounded towards negative infinity. `divisor` is positive.
  func flooredDivision(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
