import ControlServer
import Coverage
import DriveStore
import Driving
import Logging
import Recovery
import Settings
import Submission

/// `submit`: runs one pass over the stored sessions.
public struct Submitting: Sendable {
  private let configuration: ProbeConfiguration
  private let mode: PassMode
  private let urgency: ServerGate.Urgency
  private let logger: Logger

  /// - Parameters:
  ///   - configuration: Names the state directory and the server.
  ///   - isWarm: Skips sessions that an earlier process left unfinished.
  ///   - includesQuarantined: Also sends sessions that the server refused.
  ///   - isForced: Sends even while the circuit breaker is open, or the server's `Retry-After` has not passed.
  ///   - logger: The program's log.
  public init(
    configuration: ProbeConfiguration, isWarm: Bool, includesQuarantined: Bool, isForced: Bool = false, logger: Logger
  ) {
    self.configuration = configuration
    mode = isWarm ? .warm : includesQuarantined ? .quarantined : .cold
    urgency = isForced ? .forced : .commanded
    self.logger = logger
  }

  /// Runs the pass, or asks the service that uses the store to run it.
  /// - Parameters:
  ///   - stop: Cancels the pass; unsent fences stay stored.
  ///   - print: Receives the line of the result.
  /// - Throws: ``ConfigurationError``, `StoreError`, ``ServiceUnreachable``.
  public func run(stop: AsyncStream<Void>, print: (String) -> Void) async throws -> CommandOutcome {
    let (line, outcome) = try await untilStopped(by: stop) {
      do {
        let report = try await withControlServer(configuration, for: "there is no server to submit to", logger: logger)
        {
          try await pass($0)
        }
        return (report.line, report.outcome)
      } catch {
        // A store that cannot be written at present still has all waiting fences.
        if let trouble = StoreError.sendingTrouble(error) {
          return ("not submitted: \(trouble); waiting data stays stored", .kept)
        }
        guard let inUse = error as? StoreError, case .inUse = inUse else { throw error }
        return try await ServiceClient(configuration: configuration).ask(instead: inUse) { [mode, urgency] service in
          try await service.submit(mode, urgency)
        }
      }
    }
    guard outcome != .failed else { throw ServiceRefusal(description: line) }
    print(line)
    return outcome
  }

  /// Opens the store as its only writer, restores fences that it lacks, and runs the pass.
  /// - Throws: `StoreError/inUse` while a service has the store open.
  private func pass(_ server: ControlServerClient) async throws -> PassReport {
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) submit"
    ) { [logger] in logger.error("\($0)") }
    if let warning = store.directory.warning { logger.warning("\(warning)") }
    await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger).attempt(at: .current)
    let sender = try Sender(
      store: store, server: server, settings: configuration.sender, clock: .host, logger: logger)
    return try await sender.pass(mode, urgency: urgency)
  }
}

extension PassReport {
  /// The result in one line for an operator.
  var line: String {
    let nothing =
      sessionsSent + sessionsKept + sessionsQuarantined + fencesWithoutSession == 0 && speedTests == SpeedTestTally()
    var line =
      nothing
      ? wasStopped ? "stopped before anything was sent" : "nothing to submit"
      : "submitted \(counted(fencesSent, "fence")) in \(counted(sessionsSent, "session"))"
    if speedTests.sent > 0 { line += ", and \(counted(speedTests.sent, "speed test"))" }
    if speedTests.kept > 0 { line += "; \(counted(speedTests.kept, "speed test")) kept for later" }
    if speedTests.quarantined > 0 {
      line += "; \(counted(speedTests.quarantined, "speed test")) refused and quarantined"
    }
    if sessionsKept > 0 { line += "; \(counted(sessionsKept, "session")) kept for later (\(Program.name) submit)" }
    if sessionsQuarantined > 0 {
      line +=
        "; \(counted(sessionsQuarantined, "session")) refused and quarantined (\(Program.name) submit --quarantined sends again)"
    }
    if fencesWithoutSession > 0 {
      line +=
        "; \(counted(fencesWithoutSession, "fence")) without a session \(fencesWithoutSession == 1 ? "waits until it is" : "wait until they are") older than submission.legacy-threshold"
    }
    if let firstFailure { line += ": \(firstFailure)" }
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

  /// `kept` when anything is left, refused data included. A pass that a wait ended is not done, even if it looked at nothing.
  var outcome: CommandOutcome {
    let left =
      sessionsKept + sessionsQuarantined + fencesWithoutSession + speedTests.kept + speedTests.quarantined
    return left == 0 && !wasStopped && hold == nil ? .done : .kept
  }
}
