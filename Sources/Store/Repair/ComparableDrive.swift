import Coverage

/// A stored drive whose log may have more fences.
public struct ComparableDrive: Hashable, Sendable, Identifiable {
  /// Its id in the store.
  public let id: Int64
  /// The stored path of its log; `nil` when it is unknown.
  public let log: String?
  /// The start that the times of its fences relate to; `nil` when it is damaged.
  public let started: WallTime?
  /// The measured link; `nil` when the drive had one link only, or when the row is damaged.
  public let link: String?
  /// Whether it was interrupted. A drive that ended in order was completely in the store.
  public let isUnfinished: Bool
  /// Whether its row, or one of its fences, is damaged.
  public let hasDamage: Bool
  /// Whether there is any other sign of a loss.
  public let hasGaps: Bool
  /// Whether it has unsent fences.
  public let isWaiting: Bool
}

/// A drive as its log describes it, to compare it with the store.
public struct LoggedDrive: Sendable {
  /// The path of the log.
  public let log: String
  /// The start by the host's clock, as the log has it.
  public let started: WallTime
  /// The measured link; `nil` when the drive had one link only.
  public let link: String?
  /// The user's own target of its pings; `nil`: the control server's.
  public let target: DriveTarget?
  /// Its sessions.
  public let sessions: [Session]
  /// Ended fences that are certainly the measured ones.
  public internal(set) var fences: [Fence]
  /// The fences that the log has as accepted by the server, by their numbers in the store.
  public let accepted: [AcceptedFences]
  /// The stop; `nil` when the log has none.
  public let stopped: (at: DriveTime, reason: StopReason)?
}

/// Identifies a stored fence, whatever the clock showed.
public struct FenceMark: Hashable, Sendable {
  /// Its number in its drive, from 0.
  public let number: Int
  /// When it was entered, by the stored times.
  public let entered: WallTime
  /// Its centre.
  public let place: Coordinate
  /// Whether it has not ended.
  public let isOpen: Bool
}
