import ControlServer
import DriveStore
import Logging
import Submission

/// `submit`: one pass over what waits in the store.
public struct Submitting: Sendable {
  private let configuration: ProbeConfiguration
  private let mode: PassMode
  private let urgency: Urgency
  private let logger: Logger

  /// - Parameters:
  ///   - isWarm: Leaves alone what an earlier process did not end in order.
  ///   - includesQuarantined: Sends again what the server has refused.
  ///   - isForced: Tries even while the circuit breaker is open.
  public init(
    configuration: ProbeConfiguration, isWarm: Bool, includesQuarantined: Bool, isForced: Bool = false, logger: Logger
  ) {
    self.configuration = configuration
    mode = isWarm ? .warm : includesQuarantined ? .quarantined : .cold
    urgency = isForced ? .forced : .commanded
    self.logger = logger
  }

  /// - Parameters:
  ///   - stop: Gives up; what was not sent stays.
  ///   - print: Takes the line of the result.
  /// - Throws: ``ConfigurationError``, `StoreError`, ``ServiceUnreachable``.
  public func run(stop: AsyncStream<Void>, print: (String) -> Void) async throws -> CommandOutcome {
    let (line, outcome) = try await untilStopped(by: stop) {
      do {
        let report = try await withControlServer(configuration, for: "there is no server to submit to", logger: logger)
        {
          try await pass($0)
        }
        return (report.line, report.outcome)
      } catch let inUse as StoreError {
        guard case .inUse = inUse else { throw inUse }
        return try await ServiceClient(configuration: configuration).ask(instead: inUse) { [mode, urgency] service in
          try await service.submit(mode, urgency)
        }
      }
    }
    print(line)
    return outcome
  }

  private func pass(_ server: ControlServerClient) async throws -> Report {
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) submit"
    ) { [logger] in logger.error("\($0)") }
    let registration = Registration(store: store, server: server)
    let sender = try Sender(
      store: store, server: server, registration: registration, settings: configuration.sender, clock: .host,
      logger: logger)
    return try await sender.pass(mode, urgency: urgency)
  }
}

extension Report {
  /// What came of it, for a person.
  var line: String {
    let nothing = sessionsSent + sessionsKept + sessionsQuarantined + fencesWithoutSession == 0
    var line =
      nothing
      ? wasStopped ? "stopped before anything was sent" : "nothing to submit"
      : "submitted \(fencesSent) fences in \(sessionsSent) \(sessionsSent == 1 ? "session" : "sessions")"
    if sessionsKept > 0 { line += "; \(sessionsKept) kept for later (\(Program.name) submit)" }
    if sessionsQuarantined > 0 {
      line += "; \(sessionsQuarantined) refused and quarantined (\(Program.name) submit --quarantined sends again)"
    }
    if fencesWithoutSession > 0 {
      line +=
        "; \(fencesWithoutSession) fences without a session wait until they are older than submission.legacy-threshold"
    }
    if let firstFailure { line += ": \(firstFailure)" }
    if let hold { line += "; \(hold) (\(Program.name) submit --force tries now)" }
    return line
  }

  var outcome: CommandOutcome {
    sessionsKept + sessionsQuarantined + fencesWithoutSession == 0 && !wasStopped ? .done : .kept
  }
}
