import Coverage
import DriveStore

/// An ended fence as a report reads it: the fence with its drive and session, which tell whether two fences are neighbours.
public struct ReportedFence: Sendable {
  /// The fence; its times relate to ``driveStarted``.
  public let fence: Fence
  /// The id of its drive.
  public let drive: Int64
  /// The id of its session.
  public let session: Int64
  /// The start of its drive.
  public let driveStarted: WallTime

  /// A fence with the given values.
  public init(fence: Fence, drive: Int64, session: Int64, driveStarted: WallTime) {
    (self.fence, self.drive, self.session, self.driveStarted) = (fence, drive, session, driveStarted)
  }

  /// A stored fence.
  public init(_ stored: StoredFence) {
    self.init(
      fence: stored.fence, drive: stored.session.drive, session: stored.session.id,
      driveStarted: stored.session.driveStarted)
  }

  /// When it ended; for an open fence, and for one with an end before its entry, when it began.
  var exited: DriveTime { max(fence.exited ?? fence.entered, fence.entered) }

  /// How long it lasted, in microseconds.
  var microseconds: Int64 { (exited - fence.entered).inMicroseconds }

  /// Whether `next` follows in the same session without a gap: with the next number, at the moment at which this fence ended.
  /// A fence that is not selected between the two breaks the row.
  func continues(in next: ReportedFence) -> Bool {
    session == next.session && fence.number.saturatingAdding(1) == next.fence.number && exited == next.fence.entered
  }
}
