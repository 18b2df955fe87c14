/// The tracks of drives, from memory or read from drive logs on each iteration.
public protocol DriveTracks {
  /// Calls `body` for each segment: oldest session first, the segments of a session in order of time.
  /// - Throws: Errors of `body` and of the store.
  func forEach(_ body: (TrackSegment) throws -> Void) throws
}

extension Array: DriveTracks where Element == TrackSegment {}
