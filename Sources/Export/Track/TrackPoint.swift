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

  /// A place between two positions where a track is cut; no receiver reported it, so it has no accuracy, altitude, course or speed.
  init(_ place: Coordinate, _ crossing: Antimeridian.Crossing, _ from: TrackPoint, _ to: TrackPoint) {
    let microseconds = to.time.microseconds.saturatingSubtracting(from.time.microseconds)
    let offset = Int64(exactly: (Double(microseconds) * crossing.share).rounded(.down)) ?? 0
    time = WallTime(microseconds: from.time.microseconds.saturatingAdding(offset))
    (self.place, fix) = (place, Fix(coordinate: place))
  }
}
