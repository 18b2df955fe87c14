import Coverage
import Store

/// The result of a pass.
public struct PassReport: Hashable, Sendable {
  var tally = PassTally()
  public internal(set) var speedTests = SpeedTestTally()
  /// Fences whose session is missing; a cold pass sends them when they are old enough.
  public internal(set) var fencesWithoutSession = 0
  /// Unsent fences that were deleted, because they are older than `submission.max-age`.
  public internal(set) var fencesExpired = 0
  /// The first reason why something was not sent.
  public internal(set) var firstFailure: ServerFailure?
  /// The wait that ended the pass.
  public internal(set) var hold: Hold?
  /// Whether the pass was cancelled.
  public internal(set) var wasStopped = false

  /// Whether trouble of the server ended the pass.
  var wasEndedByServer = false
  /// When the next request may leave, by the selected clock; `nil`: now.
  public internal(set) var heldUntil: WallTime?
  /// Waiting fences of running drives, which are sent when these drives end.
  public internal(set) var fencesOfRunningDrives = 0

  /// Sessions whose fences the server now has completely.
  public var sessionsSent: Int { tally.sent.count }
  /// Fences that the server accepted in this pass.
  public var fencesSent: Int { tally.fencesSent }
  /// Sessions with fences that could not be sent now and stay stored.
  public var sessionsKept: Int { tally.kept.count }
  /// Sessions with fences that this pass quarantined, or left so; they stay stored, and are sent again on command only.
  public var sessionsQuarantined: Int { tally.quarantined.count }
  /// Those of ``sessionsQuarantined`` with fences that the server may have: only a forced command sends them again.
  public var sessionsInDoubt: Int { tally.inDoubt.count }

  /// Whether another pass could send something now: neither the server nor a wait ended this one.
  public var isUnhindered: Bool { hold == nil && !wasStopped && !wasEndedByServer }

  /// A report of a pass that found nothing else.
  public init(fencesExpired: Int = 0) { self.fencesExpired = fencesExpired }

  init(hold: Hold) { self.hold = hold }

  /// The joint result of two passes, one after the other.
  public static func + (first: PassReport, second: PassReport) -> PassReport {
    var sum = first
    sum.tally = first.tally.followed(by: second.tally)
    sum.speedTests = first.speedTests.followed(by: second.speedTests)
    sum.fencesWithoutSession = second.fencesWithoutSession
    sum.fencesExpired = first.fencesExpired + second.fencesExpired
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
    /// The host's clock shows an impossible time: no test can be anchored, and no age is known.
    case clock

    /// The reason, in one line.
    public var description: String {
      switch self {
      case .gate(let hold): "\(hold)"
      case .clock: "the host's clock is not set"
      }
    }
  }
}

/// Counts the results of a pass by speed test: the result of a test, and the report of its QoS tests apart.
public struct SpeedTestTally: Hashable, Sendable {
  /// The UUIDs of ``sent``: ids of rows are those of one store, and a pass can have tests of two.
  var withResult: Set<String> = []
  /// Tests whose result the server has now; messages that a test has no result included.
  public var sent: Int { withResult.count }
  /// Tests that could not be sent now and stay stored.
  public internal(set) var kept = 0
  /// Tests that were quarantined in this pass; they stay stored, and are sent again on command only.
  public internal(set) var quarantined = 0
  /// QoS reports that the server has now, of tests whose result an earlier pass has sent.
  public internal(set) var qosSent = 0
  /// QoS reports that could not be sent now, of tests whose result the server has.
  public internal(set) var qosKept = 0
  /// QoS reports that are quarantined: the server may have them, and only a forced command sends them again.
  public internal(set) var qosQuarantined = 0

  /// What this pass leaves unsent.
  public var left: Int { kept + quarantined + qosKept + qosQuarantined }

  /// A tally of nothing.
  public init() {}

  mutating func keep(_ part: SpeedTestOutbox.Part) {
    if part == .qos { qosKept += 1 } else { kept += 1 }
  }

  mutating func quarantine(_ part: SpeedTestOutbox.Part) {
    if part == .qos { qosQuarantined += 1 } else { quarantined += 1 }
  }

  /// The tally of this pass and a later one.
  func followed(by later: SpeedTestTally) -> SpeedTestTally {
    var sum = SpeedTestTally()
    (sum.withResult, sum.qosSent) = (withResult.union(later.withResult), qosSent + later.qosSent)
    // The later pass has tried them again.
    (sum.kept, sum.qosKept) = (later.kept, later.qosKept)
    sum.quarantined = quarantined + later.quarantined
    sum.qosQuarantined = qosQuarantined + later.qosQuarantined
    return sum
  }

  var summary: String? {
    let counts = [
      (sent, "sent"), (kept, "kept for later"), (quarantined, "quarantined"), (qosSent, "QoS sent"),
      (qosKept, "QoS kept for later"), (qosQuarantined, "QoS quarantined"),
    ]
    let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return parts.isEmpty ? nil : "speed tests: " + parts.joined(separator: ", ")
  }
}
