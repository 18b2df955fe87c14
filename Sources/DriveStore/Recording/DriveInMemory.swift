import Coverage

/// A drive, or the part of one, that the disk refuses: for a store in memory, from which it is submitted.
public struct DriveInMemory: Hashable, Sendable {
  /// Its id in the store on the disk.
  public let drive: Int64
  /// The start of the drive by the ruling clock.
  public let started: WallTime
  /// Finalized sessions.
  public let sessions: [Session]
  /// Ended fences of these sessions, in one request for each test.
  public let fences: [Fence]
  /// The numbers of those of which the store has nothing.
  public let unstored: Set<Int>

  /// A drive with the given parts.
  public init(drive: Int64, started: WallTime, sessions: [Session], fences: [Fence], unstored: Set<Int>) {
    (self.drive, self.started, self.sessions) = (drive, started, sessions)
    (self.fences, self.unstored) = (fences, unstored)
  }
}
