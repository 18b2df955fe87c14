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

/// A drive in the store whose log may have more of it.
public struct ComparableDrive: Hashable, Sendable, Identifiable {
  public let id: Int64
  /// The path of its log as it was noted; `nil` where that is not known any more.
  public let log: String?
  /// To this the times of the fences relate; `nil` where it is damaged.
  public let started: WallTime?
  public let link: String?
  /// Whether its process has left it unfinished. One that was ended in order was wholly in the store then.
  public let isUnfinished: Bool
  /// Whether its row, or one of its fences, is not as it was written.
  public let hasDamage: Bool
  /// Whether something else hints at a loss.
  public let hasGaps: Bool
  /// Whether some of it is still to be sent.
  public let isWaiting: Bool
}

/// What tells a stored fence from all others, whatever the clock said.
public struct FenceMark: Hashable, Sendable {
  public let number: Int
  public let entered: WallTime
  public let place: Coordinate
  public let isOpen: Bool
}

/// What tells a stored session.
public struct SessionMark: Hashable, Sendable {
  public let number: Int
  public let started: WallTime
  public let test: String?
}
