import Coverage

/// A drive as its log tells it, to be compared with what the store has of it.
public struct LoggedDrive: Sendable {
  /// The path of the log.
  public let log: String
  /// By what the log says of the host's clock.
  public let started: WallTime
  public let link: String?
  public let sessions: [Session]
  /// Those that have ended, and are as they were measured for sure.
  public let fences: [Fence]
  /// `nil` when the log ends without a stop.
  public let stopped: (at: DriveTime, reason: StopReason)?

  public init(
    log: String, started: WallTime, link: String?, sessions: [Session], fences: [Fence],
    stopped: (at: DriveTime, reason: StopReason)?
  ) {
    (self.log, self.started, self.link, self.sessions) = (log, started, link, sessions)
    (self.fences, self.stopped) = (fences, stopped)
  }
}
