import Coverage
import Store

/// A fence for export. ``ColumnList`` selects the values to write.
public struct FenceRecord: Hashable, Sendable {
  /// Unique within the drive for a replayed fence, within the store for a stored one.
  public let id: Int64
  /// The fence.
  public let fence: Fence
  /// The session to which it belongs.
  public let session: Session
  /// Where it comes from; it decides how times are written.
  public let origin: Origin
  /// The name of the measured link; `nil` in a drive over one link.
  public let link: String?
  /// When the control server accepted it; `nil` before, and in a replay.
  public let submitted: WallTime?
  /// The metres from the fence of the link before, where the two are joined (`Fence.distance(to:)`, ``FenceTrail``).
  public internal(set) var distance: Double?

  /// The origin of a fence.
  public enum Origin: Hashable, Sendable {
    /// A replay: times are seconds since the start of the drive.
    case replay
    /// The store: times are wall times, and the session has an identifier.
    case store(driveStarted: WallTime, session: Int64, provenance: Provenance? = nil)
  }

  /// What tells the fences of many devices apart, and what their figures rest on.
  public struct Provenance: Hashable, Sendable {
    /// The identity of the store, a UUID.
    let store: String?
    /// The id of the drive in it.
    let drive: Int64
    /// The clock that dates the drive: `gnss`, `server` or `host`.
    let clock: String?
    /// Whether the control server refused fences of the session.
    let isQuarantined: Bool
    /// The user's own target of the pings, e.g. `icmp 192.0.2.1`; `nil`: the control server's.
    let target: String?

    /// With the given values.
    public init(store: String?, drive: Int64, clock: String?, isQuarantined: Bool, target: String? = nil) {
      (self.store, self.drive, self.clock, self.isQuarantined) = (store, drive, clock, isQuarantined)
      self.target = target
    }
  }

  /// A record with the given values.
  /// - Parameter id: By default the number of the fence within its drive.
  public init(
    id: Int64? = nil, fence: Fence, session: Session, origin: Origin, link: String? = nil, submitted: WallTime? = nil
  ) {
    self.id = id ?? Int64(fence.number)
    self.link = link
    self.fence = fence
    self.session = session
    self.origin = origin
    self.submitted = submitted
  }

  /// The record of a stored fence.
  public init(_ stored: StoredFence) {
    let session = stored.session
    let provenance = Provenance(
      store: session.store, drive: session.drive, clock: session.clock, isQuarantined: session.quarantineReason != nil,
      target: session.target)
    self.init(
      id: stored.id, fence: stored.fence, session: session.session,
      origin: .store(driveStarted: session.driveStarted, session: session.id, provenance: provenance),
      link: session.link, submitted: stored.submitted)
  }

  /// The start of the drive; `nil` in a replay.
  var driveStarted: WallTime? { if case .store(let started, _, _) = origin { started } else { nil } }

  /// The id of the session in the store; `nil` in a replay.
  var storedSession: Int64? { if case .store(_, let session, _) = origin { session } else { nil } }

  /// `nil` in a replay.
  var provenance: Provenance? { if case .store(_, _, let provenance) = origin { provenance } else { nil } }

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
