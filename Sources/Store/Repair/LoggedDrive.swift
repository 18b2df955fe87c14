import Coverage

/// A drive as its log describes it, to compare it with the store.
public struct LoggedDrive: Sendable {
  /// The path of the log.
  public let log: String
  /// The start by the host's clock, as the log has it.
  public let started: WallTime
  /// The measured link; `nil` when the drive had one link only.
  public let link: String?
  /// Its sessions.
  public let sessions: [Session]
  /// Ended fences that are certainly the measured ones.
  public let fences: [Fence]
  /// The fences that the log has as accepted by the server, by their numbers in the store.
  public let accepted: [AcceptedFences]
  /// The stop; `nil` when the log has none.
  public let stopped: (at: DriveTime, reason: StopReason)?

  /// Joins the parts of a replayed log.
  public init(
    log: String, started: WallTime, link: String?, sessions: [Session], fences: [Fence],
    accepted: [AcceptedFences] = [], stopped: (at: DriveTime, reason: StopReason)?
  ) {
    (self.log, self.started, self.link, self.sessions) = (log, started, link, sessions)
    (self.fences, self.accepted, self.stopped) = (fences, accepted, stopped)
  }
}
