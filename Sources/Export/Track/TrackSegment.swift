/// A stretch of a session's track without a gap.
public struct TrackSegment: Hashable, Sendable {
  /// The id of the session in the store.
  public let session: Int64
  /// The measured link; `nil` when the drive had one link only.
  public let link: String?
  /// At least two positions, in order of time.
  public let points: [TrackPoint]

  /// A segment with the given values.
  public init(session: Int64, link: String?, points: [TrackPoint]) {
    (self.session, self.link, self.points) = (session, link, points)
  }
}
