import Coverage
import Store

/// The tracks of stored sessions, from those drive logs that are still there.
public struct StoredTracks: DriveTracks {
  private let reader: StoreReader
  private let session: Int64?
  private let filter: FenceFilter
  private let isChosen: (Int64) -> Bool
  private let complain: (String) -> Void

  /// - Parameters:
  ///   - isChosen: Whether to include the session with this id; asked on each iteration.
  ///   - complain: Receives a line for each log that cannot be read to its end, and for each with lines that cannot be read.
  public init(
    _ reader: StoreReader, session: Int64?, filter: FenceFilter, where isChosen: @escaping (Int64) -> Bool,
    complain: @escaping (String) -> Void
  ) {
    (self.reader, self.session, self.filter) = (reader, session, filter)
    (self.isChosen, self.complain) = (isChosen, complain)
  }

  /// - Throws: GRDB's `DatabaseError`, and errors of `body`.
  public func forEach(_ body: (TrackSegment) throws -> Void) throws {
    for drive in try reader.drivesWithLogs(session: session) {
      let chosen = drive.sessions.filter { isChosen($0.id) }
      guard !chosen.isEmpty else { continue }
      var hasTrack = false
      do {
        let unreadable = try Self.read(drive, chosen, filter) {
          hasTrack = true
          try body($0)
        }
        if unreadable > 0 { complain("drive \(drive.id): lines of the log that cannot be read: \(unreadable)") }
      } catch let error as DriveLogError {
        complain("drive \(drive.id) has \(hasTrack ? "a part of its track only" : "no track"): \(error)")
      }
    }
  }

  /// - Returns: The number of lines of the log that cannot be read.
  private static func read(
    _ drive: StoredDrive, _ sessions: [StoredSession], _ filter: FenceFilter, _ body: (TrackSegment) throws -> Void
  ) throws -> Int {
    let log = try LoggedPositions(path: drive.log)
    let windows = sessions.map { stored in
      // A session that is still open, or that a crash left open, goes on to the end of the log.
      let from = stored.session.started
      let to = stored.session.finalized ?? DriveTime(microseconds: .max)
      return TrackCutter.Window(session: stored.id, times: from..<max(from, to))
    }
    var cutter = TrackCutter(
      driveStarted: drive.started, link: drive.link, windows: windows,
      accuracyLimit: log.header.parameters?.accuracyLimit ?? Parameters().accuracyLimit, filter: filter)
    let unreadable = try log.forEach { time, fix in
      if let segment = cutter.add(fix, at: time) { try body(segment) }
    }
    if let segment = cutter.end() { try body(segment) }
    return unreadable
  }
}
