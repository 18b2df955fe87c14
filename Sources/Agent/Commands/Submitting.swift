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
  /// - Throws: ``ConfigurationError``, `StoreError`.
  public func run(stop: AsyncStream<Void>, print: (String) -> Void) async throws -> CommandOutcome {
    do {
      let report = try await untilStopped(by: stop) {
        try await withControlServer(configuration, for: "there is no server to submit to", logger: logger) {
          try await pass($0)
        }
      }
      print(report.line)
      return report.outcome
    } catch let error as StoreError {
      guard case .inUse = error, mode != .quarantined, urgency != .forced else { throw error }
      // The service has the store: it can do this as well. If that is no service, the store's own error says more.
      guard let result = try? await ServiceClient(configuration: configuration).submit() else { throw error }
      print(result.line)
      return result.outcome
    }
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
    let nothing = sessionsSent + sessionsKept + sessionsQuarantined == 0
    var line =
      nothing
      ? wasStopped ? "stopped before anything was sent" : "nothing to submit"
      : "submitted \(fencesSent) fences in \(sessionsSent) \(sessionsSent == 1 ? "session" : "sessions")"
    if sessionsKept > 0 { line += "; \(sessionsKept) kept for later (\(Program.name) submit)" }
    if sessionsQuarantined > 0 {
      line += "; \(sessionsQuarantined) refused and quarantined (\(Program.name) submit --quarantined sends again)"
    }
    if let firstFailure { line += ": \(firstFailure)" }
    if let hold { line += "; \(hold) (\(Program.name) submit --force tries now)" }
    return line
  }

  var outcome: CommandOutcome { sessionsKept + sessionsQuarantined == 0 && !wasStopped ? .done : .kept }
}
