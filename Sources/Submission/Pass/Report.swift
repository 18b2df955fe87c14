import ControlServer
import Coverage

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

  /// Whether the server was in trouble, and nothing more was tried.
  public internal(set) var wasEndedByServer = false
  /// When the next request may leave, by the host's clock; `nil` when that is now.
  public internal(set) var heldUntil: WallTime?
  /// Fences that wait and belong to the drives that are being recorded: they are sent when these end.
  public internal(set) var fencesOfRunningDrives = 0

  /// Whether another pass could send something now: neither the server nor a wait ended this one.
  public var isUnhindered: Bool { hold == nil && !wasStopped && !wasEndedByServer }

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
    sum.heldUntil = [first.heldUntil, second.heldUntil].compactMap { $0 }.max()
    sum.wasEndedByServer = first.wasEndedByServer || second.wasEndedByServer
    sum.fencesOfRunningDrives = second.fencesOfRunningDrives
    sum.wasStopped = first.wasStopped || second.wasStopped
    return sum
  }

  /// A wait during which no request leaves.
  public enum Hold: Hashable, Sendable, CustomStringConvertible {
    case gate(ServerGate.Hold)
    /// The host's clock shows a time that cannot be: no test can be anchored, and no age is known.
    case clock

    public var description: String {
      switch self {
      case .gate(let hold): "\(hold)"
      case .clock: "the host's clock is not set"
      }
    }
  }
}
