import ControlServer

/// What came of a pass.
public struct Report: Hashable, Sendable {
  /// Sessions that the server has now, wholly.
  public internal(set) var sessionsSent = 0
  public internal(set) var fencesSent = 0
  /// Sessions of which something could not be sent now; it is kept.
  public internal(set) var sessionsKept = 0
  /// Sessions of which the server refused something now; it is kept, and sent again on command only.
  public internal(set) var sessionsQuarantined = 0
  /// Fences that have lost their session, and wait for a cold pass when they are old enough.
  public internal(set) var fencesWithoutSession = 0
  /// Why something was not sent, for the first of it.
  public internal(set) var firstFailure: ServerFailure?
  /// Why nothing more was tried.
  public internal(set) var hold: Hold?
  /// Whether it was cancelled.
  public internal(set) var wasStopped = false

  /// Whether another pass could send something now: nothing held this one up.
  public var isUnhindered: Bool { hold == nil && !wasStopped && sessionsKept == 0 }

  public init() {}

  init(hold: Hold) { self.hold = hold }

  /// What came of two passes, one after the other.
  public static func + (first: Report, second: Report) -> Report {
    var sum = first
    sum.sessionsSent += second.sessionsSent
    sum.fencesSent += second.fencesSent
    sum.sessionsKept += second.sessionsKept
    sum.sessionsQuarantined += second.sessionsQuarantined
    sum.fencesWithoutSession = second.fencesWithoutSession
    sum.firstFailure = first.firstFailure ?? second.firstFailure
    sum.hold = first.hold ?? second.hold
    sum.wasStopped = first.wasStopped || second.wasStopped
    return sum
  }

  /// A wait during which no request leaves.
  public enum Hold: Hashable, Sendable, CustomStringConvertible {
    /// The circuit breaker is open.
    case breaker(Duration)
    /// The server or the network was in trouble, or the server wants nothing from this device.
    case trouble(Duration)
    /// The host's clock shows a time that cannot be: nothing can be anchored, and nobody knows how old anything is.
    case clock

    public var description: String {
      switch self {
      case .breaker(let wait):
        "the server asked for fewer requests; the next one may leave in \(wait.components.seconds + 1) s"
      case .clock: "the host's clock is not set"
      case .trouble(let wait): "after trouble, the next try is in \(wait.components.seconds + 1) s"
      }
    }
  }
}
