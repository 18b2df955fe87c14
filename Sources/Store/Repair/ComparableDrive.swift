import Coverage

/// A stored drive whose log may have more fences.
struct ComparableDrive: Hashable, Sendable, Identifiable {
  /// Its id in the store.
  let id: Int64
  /// The stored path of its log; `nil` when it is unknown.
  let log: String?
  /// The start that the times of its fences relate to; `nil` when it is damaged.
  let started: WallTime?
  /// The measured link; `nil` when the drive had one link only, or when the row is damaged.
  let link: String?
  /// Whether it was interrupted. A drive that ended in order was completely in the store.
  let isUnfinished: Bool
  /// Whether its row, or one of its fences, is damaged.
  let hasDamage: Bool
  /// Whether there is any other sign of a loss.
  let hasGaps: Bool
  /// Whether it has unsent fences.
  let isWaiting: Bool
}

/// A drive as its log describes it, to compare it with the store.
struct LoggedDrive: Sendable {
  /// The path of the log.
  let log: String
  /// The start by the host's clock, as the log has it.
  let started: WallTime
  /// The measured link; `nil` when the drive had one link only.
  let link: String?
  /// The user's own target of its pings; `nil`: the control server's.
  let target: DriveTarget?
  let sessions: [Session]
  /// Ended fences that are certainly the measured ones.
  var fences: [Fence]
  /// The fences that the log has as accepted by the server, by their numbers in the store.
  let accepted: [AcceptedFences]
  /// The stop; `nil` when the log has none.
  let stopped: (at: DriveTime, reason: StopReason)?
}

/// Identifies a stored fence, whatever the clock showed.
struct FenceMark: Hashable, Sendable {
  /// Its number in its drive, from 0.
  let number: Int
  /// When it was entered, by the stored times.
  let entered: WallTime
  /// Its centre.
  let place: Coordinate
  /// Whether it has not ended.
  let isOpen: Bool
}
