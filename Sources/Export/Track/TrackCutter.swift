import Coverage

/// Cuts the positions of a drive log into the segments of its sessions' tracks: positions in, one by one, a segment out when
/// it ends.
///
/// A segment ends with a position that is lost, not selected or outside of all sessions, after a gap, at a change of session,
/// at the antimeridian, and when it is full.
struct TrackCutter {
  /// A session and its time, relative to the start of the drive.
  struct Window: Hashable {
    let session: Int64
    /// Without the end: at a change of session, the moment belongs to the later one.
    let times: Range<DriveTime>
  }

  private let driveStarted: WallTime
  private let link: String?
  private let windows: [Window]
  private let accuracyLimit: Double
  private let filter: FenceFilter
  /// The session of ``points``.
  private var session: Int64?
  /// The segment under way, in order of time; empty between two segments.
  private var points: [TrackPoint] = []

  /// The longest time between two positions that are joined by a line.
  static let longestGap: Duration = .seconds(10)
  /// A longer segment is continued by another one, which begins with its last position: memory is bounded.
  static let mostPoints = 20_000

  /// - Parameters:
  ///   - driveStarted: The wall time to which the times of the log relate.
  ///   - windows: The sessions to export; positions outside of them are dropped.
  ///   - accuracyLimit: In metres; positions with a larger or an unknown accuracy are dropped.
  init(
    driveStarted: WallTime, link: String?, windows: [Window], accuracyLimit: Double, filter: FenceFilter
  ) {
    (self.driveStarted, self.link, self.windows) = (driveStarted, link, windows)
    (self.accuracyLimit, self.filter) = (accuracyLimit, filter)
  }

  /// Adds the next position of the log; a fix without coordinates is a lost position.
  /// - Returns: The segment that ends before it, if one does.
  mutating func add(_ fix: Fix, at time: DriveTime) -> TrackSegment? {
    guard let point = TrackPoint(time: driveStarted + time, fix: fix), filter.selects(point) else { return end() }
    // A less accurate position neither is on the track nor interrupts it.
    guard let accuracy = fix.accuracy, accuracy <= accuracyLimit else { return nil }
    guard let session = windows.first(where: { $0.times.contains(time) })?.session else { return end() }
    if let last = points.last {
      // A receiver can repeat itself, and a clock can be set back.
      guard point.time > last.time else { return nil }
      guard point.time - last.time <= Self.longestGap else {
        let segment = end()
        (self.session, points) = (session, [point])
        return segment
      }
      let isContinued = session == self.session && points.count < Self.mostPoints
      let crossing = Antimeridian.crossing(from: last.place, to: point.place)
      if isContinued, crossing == nil {
        points.append(point)
        return nil
      }
      if let crossing, crossing.share > 0 { points.append(TrackPoint(crossing.exit, crossing, last, point)) }
      let segment = end()
      // Between two segments is no hole.
      let start = crossing.map { $0.share < 1 ? [TrackPoint($0.entry, $0, last, point)] : [] } ?? [last]
      (self.session, points) = (session, start + [point])
      return segment
    }
    (self.session, points) = (session, [point])
    return nil
  }

  /// Ends the segment under way.
  /// - Returns: `nil` when it has fewer than two positions.
  mutating func end() -> TrackSegment? {
    defer { points = [] }
    guard let session, points.count > 1 else { return nil }
    return TrackSegment(session: session, link: link, points: points)
  }
}
