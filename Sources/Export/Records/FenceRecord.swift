import Coverage
import Store

/// A fence for export. ``ColumnList`` selects the values to write.
public struct FenceRecord: Hashable, Sendable {
  /// Unique within the drive for a replayed fence, within the store for a stored one.
  public let id: Int64
  public private(set) var fence: Fence
  public let session: Session
  /// The session in the store, which tells the fences of many devices apart; `nil` in a replay, whose times are seconds since the start of
  /// the drive.
  public let stored: StoredSession?
  /// The name of the measured link; `nil` in a drive over one link.
  public let link: String?
  /// When the control server accepted it; `nil` before, and in a replay.
  public let submitted: WallTime?
  /// The metres from the fence of the link before, where the two are joined (`Fence.distance(to:)`, ``FenceTrail``).
  public internal(set) var distance: Double?

  public init(replayed fence: Fence, session: Session, link: String? = nil) {
    (self.fence, self.session, self.link) = (fence, session, link)
    (id, stored, submitted) = (Int64(fence.number), nil, nil)
  }

  public init(_ stored: StoredFence) {
    (id, fence, session, self.stored) = (stored.id, stored.fence, stored.session.session, stored.session)
    (link, submitted) = (stored.session.link, stored.submitted)
  }

  public func with(_ fence: Fence) -> FenceRecord {
    var other = self
    other.fence = fence
    return other
  }

  /// The start of the drive; `nil` in a replay.
  var driveStarted: WallTime? { stored?.driveStarted }

  /// The fence's technology, if the control server knows its name; `NONE` for a fence without one.
  var knownTechnology: Technology? {
    let technology = fence.technology ?? .none
    return technology.isKnown ? technology : nil
  }

  /// When the fence began, for a stored fence.
  var enteredAt: WallTime? { driveStarted.map { $0 + fence.entered } }

  /// When it ended, for a stored fence that has ended.
  var exitedAt: WallTime? { driveStarted.flatMap { started in fence.exited.map { started + $0 } } }
}

extension StoredFence {
  /// When it ended; for an open fence, and for one with an end before its entry, when it began.
  var exited: DriveTime { max(fence.exited ?? fence.entered, fence.entered) }

  /// How long it lasted, in microseconds.
  var microseconds: Int64 { (exited - fence.entered).inMicroseconds }
}
