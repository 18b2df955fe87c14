import Coverage

/// A position of a drive, on its track.
public struct TrackPoint: Hashable, Sendable {
  /// When it arrived: the start of the drive plus its time in the log.
  public let time: WallTime
  /// The place.
  public let place: Coordinate
  /// With altitude, speed, course and accuracy, where they are known.
  public let fix: Fix

  /// `nil` for a fix without a place.
  public init?(time: WallTime, fix: Fix) {
    guard let place = fix.coordinate else { return nil }
    (self.time, self.place, self.fix) = (time, place, fix)
  }
}
