import Coverage

/// A position of a drive, on its track.
public struct TrackPoint: Hashable, Sendable {
  /// When it arrived: the start of the drive plus its time in the log.
  public let time: WallTime
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

/// A stretch of a session's track without a gap.
public struct TrackSegment: Hashable, Sendable {
  /// The id of the session in the store.
  public let session: Int64
  /// The measured link; `nil` when the drive had one link only.
  public let link: String?
  /// At least two positions, in order of time.
  public let points: [TrackPoint]
}

/// The tracks of drives, from memory or read from drive logs on each iteration.
public protocol DriveTracks {
  /// Calls `body` for each segment: oldest session first, the segments of a session in order of time.
  /// - Throws: Errors of `body` and of the store.
  func forEach(_ body: (TrackSegment) throws -> Void) throws
}

extension Array: DriveTracks where Element == TrackSegment {}

extension FenceFilter {
  /// Whether a position of a track is to be exported: by time and box only, because a position has no technology of its own,
  /// and the sessions of other links are left out before.
  func selects(_ point: TrackPoint) -> Bool { selects(point.time) && box?.contains(point.place) ?? true }
}
