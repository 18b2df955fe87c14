/// Something that happened to the drive. The same events in the same order always give the same fences.
public struct Event: Hashable, Sendable {
  /// When it happened: for all that concerns a ping the moment of its sending, for a fix the arrival of its position.
  public let at: DriveTime
  public let kind: Kind
  /// Of a fix whose epoch was complete only after pings that were sent behind `at` had been counted: when that was. The fix counts from `at`
  /// all the same, and these pings move. `nil`: a moment of the past counts as the present one.
  public let delivered: DriveTime?

  public enum Kind: Hashable, Sendable {
    case fix(Fix)
    case ping(PingOutcome)
    /// A ping that had been given up was answered after all.
    case late(rttNanoseconds: Int64)
    /// A ping was answered once more.
    case duplicate
    case path(Path)
    /// The modem's technology; `nil` when it has none.
    case radio(Technology?)
    /// The control server answered a request for a test.
    case session(SessionGrant)
    /// The host's wall clock was set, forward by this much. Drive times do not change, but what they mean does: the anchors, which
    /// are moments that were sent to the server, lie this much earlier from now on.
    case clockSet(by: Duration)
    case stop(StopReason)

    /// Whether it is about a ping, which can have been sent before events that were taken already.
    public var concernsPing: Bool {
      switch self {
      case .ping, .late, .duplicate: true
      case .fix, .path, .radio, .session, .clockSet, .stop: false
      }
    }
  }

  public init(at: DriveTime, _ kind: Kind, delivered: DriveTime? = nil) {
    self.at = at
    self.kind = kind
    self.delivered = delivered
  }
}

/// What the control server grants: a test, and how long the drive may last.
public struct SessionGrant: Hashable, Sendable {
  public let testUUID: String
  /// The moment to which the server will relate the offsets of the fences; the event's own where it is `nil`.
  public let anchor: DriveTime?
  /// The server's limit for the whole drive; only a limit shorter than the operator's has an effect.
  public let maximumDuration: Duration?

  public init(testUUID: String, anchor: DriveTime? = nil, maximumDuration: Duration? = nil) {
    self.testUUID = testUUID
    self.anchor = anchor
    self.maximumDuration = maximumDuration
  }
}

/// Why a drive ended.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  case user
  /// The operator's or the server's longest duration was reached.
  case duration
  /// No accurate fix from the start on, for too long.
  case insufficientAccuracy = "insufficient-accuracy"
  /// A replayed log ended without a stop.
  case endOfLog = "end-of-log"
}

/// What the world has to do in answer to an event, in this order.
public enum Effect: Hashable, Sendable {
  /// A new session is the current one; the one before has ended.
  case sessionBegan(Session)
  /// The session's test UUID, anchor or end changed.
  case sessionChanged(Session)
  /// The fence has ended and is complete but for late pings.
  case fenceClosed(Fence)
  /// A fence changed otherwise than by time: a late ping came for one that had ended, or Wi-Fi touched the open one.
  case fenceRevised(Fence)
  case stopped(StopReason)
}

/// A condition that the operator should know of.
public struct Warning: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case waitingForGPS = "waiting-for-gps"
    case wifi
  }

  public let kind: Kind
  public let from: DriveTime
  /// `nil` when it lasts to the end.
  public internal(set) var to: DriveTime?
}
