import Coverage
import Driving
import Submission

extension DriveSummary {
  /// The result in lines for an operator.
  public var lines: [String] {
    let ending =
      switch reason {
      case .user: "stopped"
      case .duration: "its maximum duration is reached"
      case .insufficientAccuracy: "no accurate position since its start"
      case .endOfLog: "the log ends"
      }
    let name = link.map { " (\($0))" } ?? ""
    return [
      "drive \(drive)\(name) ended after \(DriveStatus.clock(lasted)): \(ending)",
      "\(counted(fences, "fence")), \(target?.note ?? "\(submittableFences) of them to submit"); \(tally.pings == 0 ? tally.line : "\(counted(tally.pings, "ping")), \(tally.line)")",
    ] + (fencelessReason.map { ["no fence: \($0)"] } ?? []) + unansweredLines + unsentLines
      + (capture.map { [$0.line] } ?? [])
  }

  /// A way driven without a network looks like a server that is silent, or that knows no such token.
  private var unansweredLines: [String] {
    guard tally.pings > 0, tally.answered == 0 else { return [] }
    let subject = target == nil ? "the ping server" : "the target"
    return ["no ping was answered: `\(Program.name) doctor` says whether \(subject) answers where there is a network"]
  }

  private var unsentLines: [String] {
    guard tally.unsent > 0 else { return [] }
    let reason = unsentReason.map { ": \($0)" } ?? ""
    return ["\(counted(tally.unsent, "ping")) could not be sent, neither answered nor lost\(reason)"]
  }

  /// Why the drive measured nothing; `nil` when it measured.
  public var silenceLine: String? { silence.map { "no ping was sent\(link.map { " (\($0))" } ?? ""): \($0)" } }
}

extension PassReport {
  /// The result in one line for an operator.
  public var line: String {
    let nothing =
      sessionsSent + sessionsKept + sessionsQuarantined + fencesWithoutSession == 0 && speedTests == SpeedTestTally()
    var line =
      nothing
      ? wasStopped ? "stopped before anything was sent" : "nothing to submit"
      : "submitted \(counted(fencesSent, "fence"))"
        // A session that was sent in part is not counted.
        + (sessionsSent == 0 && fencesSent > 0 ? "" : " in \(counted(sessionsSent, "session"))")
    line += speedTests.words
    if sessionsKept > 0 { line += "; \(counted(sessionsKept, "session")) kept for later (\(Program.name) submit)" }
    let refused = sessionsQuarantined - sessionsInDoubt
    if refused > 0 {
      line +=
        "; \(counted(refused, "session")) refused and quarantined (\(Program.name) submit --quarantined sends again)"
    }
    if sessionsInDoubt > 0 {
      line +=
        "; \(counted(sessionsInDoubt, "session")) quarantined, because the server may have the fences (\(forcedAgain))"
    }
    if fencesWithoutSession > 0 {
      line +=
        "; \(counted(fencesWithoutSession, "fence")) without a session \(fencesWithoutSession == 1 ? "waits until it is" : "wait until they are") older than submission.legacy-threshold"
    }
    if fencesExpired > 0 {
      line += "; \(counted(fencesExpired, "fence")) deleted unsent, older than submission.max-age"
    }
    // What failed first and was sent all the same is no result.
    if let firstFailure, outcome != .done { line += ": \(firstFailure)" }
    if let hold { line += "; \(self.line(hold))" }
    if fencesOfRunningDrives > 0 {
      let fences = "\(fencesOfRunningDrives) \(fencesOfRunningDrives == 1 ? "fence" : "fences")"
      line += "; \(fences) of the running drive \(fencesOfRunningDrives == 1 ? "is" : "are") sent when it ends"
    }
    return line
  }

  /// Why no request leaves, how long, and the command that sends at once.
  private func line(_ hold: Hold) -> String {
    // `--force` does not help against an unset clock.
    guard case .gate(let gate) = hold else { return "\(hold)" }
    let until =
      heldUntil.map { "before \(WallTime(microseconds: $0.microseconds + 999_999).iso8601.prefix(19))Z " } ?? ""
    let wait = DriveStatus.clock(.seconds(gate.wait.components.seconds + 1))
    // A back-off applies to background passes only.
    let command = if case .trouble = gate { "submit" } else { "submit --force" }
    return "\(gate.reason): no request leaves \(until)(in \(wait)); \(Program.name) \(command) sends now"
  }

  /// `failed` when fences expired unsent, because they are lost; else `kept` when anything is left, refused data included. A pass that a wait
  /// ended is not done, even if it looked at nothing.
  public var outcome: CommandOutcome {
    guard fencesExpired == 0 else { return .failed }
    let left = sessionsKept + sessionsQuarantined + fencesWithoutSession + speedTests.left
    return left == 0 && !wasStopped && hold == nil ? .done : .kept
  }
}

extension SpeedTestTally {
  /// The parts of the line about speed tests; empty without any.
  fileprivate var words: String {
    var words = ""
    if sent > 0 { words += ", and \(counted(sent, "speed test"))" }
    if qosSent > 0 { words += ", and \(counted(qosSent, "QoS report"))" }
    if kept > 0 { words += "; \(counted(kept, "speed test")) kept for later" }
    if qosKept > 0 { words += "; \(counted(qosKept, "QoS report")) kept for later" }
    if quarantined > 0 {
      words += "; \(counted(quarantined, "speed test")) quarantined (\(Program.name) submit --quarantined sends again)"
    }
    if qosQuarantined > 0 { words += "; \(counted(qosQuarantined, "QoS report")) quarantined (\(forcedAgain))" }
    return words
  }
}

/// The command for what the server may have, and its risk.
private let forcedAgain =
  "\(Program.name) submit --quarantined --force sends again; what the server has already, it then has twice"

/// The sessions of drives to `pings.target`, in words.
func keptWords(_ count: Int) -> String { "\(counted(count, "session")) kept here and never submitted (pings.target)" }
