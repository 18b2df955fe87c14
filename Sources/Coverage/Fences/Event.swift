/// An input of the engine. The same events in the same order always give the same fences.
public struct Event: Hashable, Sendable {
  /// When it happened: for all kinds of ping events the moment of sending, for a fix the arrival of its position.
  public let at: DriveTime
  /// The event, with its values.
  public let kind: Kind
  /// For a fix whose epoch became complete after `at`: the moment of completion. The fix counts from `at`; pings that were sent after `at`
  /// and are counted already move to the fence in which they belong. `nil`: an event of the past counts from the present.
  public let delivered: DriveTime?

  /// The kinds of events.
  public enum Kind: Hashable, Sendable {
    /// A position, or the loss of it (``Fix/lost``).
    case fix(Fix)
    /// A ping was answered, failed, or could not be sent.
    case ping(PingOutcome)
    /// An answer came after the timeout. The ping has been counted as failed.
    case late(rttNanoseconds: Int64)
    /// A second answer to the same ping.
    case duplicate
    /// The kind of link that carries the pings changed.
    case path(Path)
    /// From now on the probe sends no pings for a reason of its own, in words, although the network may work; `nil`: no longer.
    case unmeasured(String?)
    /// The modem's technology; `nil` when it has none.
    case radio(Technology?)
    /// The modem's other values changed; `nil` when no modem tells any.
    case modem(ModemReading?)
    /// Modem, SIM and connection became known, or are others.
    case equipment(ModemEquipment)
    /// The control server answered a request for a test.
    case session(SessionGrant)
    /// The drive's wall clock was corrected, forward by this duration. Anchors are moments that the server knows by their wall time, so
    /// their drive times move back by it; no other drive time changes.
    case clockSet(by: Duration)
    /// The drive ends.
    case stop(StopReason)

    /// Whether the event belongs to a ping. Such an event can carry a time before events that the engine has handled.
    public var concernsPing: Bool {
      switch self {
      case .ping, .late, .duplicate: true
      case .fix, .path, .unmeasured, .radio, .modem, .equipment, .session, .clockSet, .stop: false
      }
    }
  }

  /// - Parameters:
  ///   - at: The event's own time.
  ///   - delivered: Only for a fix: see ``delivered``.
  public init(at: DriveTime, _ kind: Kind, delivered: DriveTime? = nil) {
    self.at = at
    self.kind = kind
    self.delivered = delivered
  }
}

/// A change that the caller of the engine has to carry out. The order of the effects of one event is significant.
public enum Effect: Hashable, Sendable {
  /// A new session is current; the session before it has ended.
  case sessionBegan(Session)
  /// The session's test UUID, anchor or end changed.
  case sessionChanged(Session)
  /// The fence ended. Only late pings can change it from here on.
  case fenceClosed(Fence)
  /// A late ping changed an ended fence, or Wi-Fi touched the open one.
  case fenceRevised(Fence)
  /// The drive ended.
  case stopped(StopReason)
}

/// A condition that the operator has to see, with the stretch of time in which it held.
public struct Warning: Hashable, Sendable {
  /// The kinds of warnings. The raw values appear in `replay`'s summary.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// There is no accurate fix.
    case waitingForGPS = "waiting-for-gps"
    /// The link is not measured (``Path/wifi``).
    case wifi
  }

  /// The condition.
  public let kind: Kind
  /// When it began.
  public let from: DriveTime
  /// When it ended; `nil` while it lasts, and for a warning that lasted to the end of the drive.
  public internal(set) var to: DriveTime?
}

extension [Warning] {
  mutating func begin(_ kind: Warning.Kind, from time: DriveTime) {
    guard !contains(where: { $0.kind == kind && $0.to == nil }) else { return }
    append(Warning(kind: kind, from: time, to: nil))
  }

  mutating func end(_ kind: Warning.Kind, at time: DriveTime) {
    guard let index = lastIndex(where: { $0.kind == kind && $0.to == nil }) else { return }
    if self[index].from >= time { remove(at: index) } else { self[index].to = time }
  }
}

/// Why a drive ended. The raw values appear in drive logs, in the store and in `replay`'s summary.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  /// The operator stopped it.
  case user
  /// It reached the longest duration that the operator or the server allows.
  case duration
  /// It had no accurate fix within ``Parameters/giveUpAfter`` from the start.
  case insufficientAccuracy = "insufficient-accuracy"
  /// A replayed log ended without a stop.
  case endOfLog = "end-of-log"
}
