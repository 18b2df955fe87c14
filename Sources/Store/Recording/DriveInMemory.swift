import Coverage

/// A drive, or the part of one, that the disk refuses: for a store in memory, from which it is submitted.
public struct DriveInMemory: Hashable, Sendable {
  /// Its id in the store on the disk.
  public let drive: Int64
  /// The start of the drive by the ruling clock.
  public let started: WallTime
  /// The end of the drive.
  public let ended: DriveTime
  /// Why it ended.
  public let stopReason: StopReason
  /// The path of its log; `nil` without one, or while lines of it are in memory only: nothing may come between them.
  public let log: String?
  /// Finalized sessions.
  public let sessions: [Session]
  /// Ended fences of these sessions, in one request for each test.
  public let fences: [Fence]
  /// The numbers of those of which the store has nothing.
  public let unstored: Set<Int>

  /// A drive with the given parts.
  public init(
    drive: Int64, started: WallTime, ended: DriveTime, stopReason: StopReason, log: String?, sessions: [Session],
    fences: [Fence], unstored: Set<Int>
  ) {
    (self.drive, self.started, self.ended, self.stopReason) = (drive, started, ended, stopReason)
    (self.log, self.sessions) = (log, sessions)
    (self.fences, self.unstored) = (fences, unstored)
  }
}
