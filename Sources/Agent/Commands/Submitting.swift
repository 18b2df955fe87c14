import ControlServer
import DriveStore
import Logging
import Submission

/// `submit`: one pass over what waits in the store.
public struct Submitting: Sendable {
  private let configuration: ProbeConfiguration
  private let selection: Selection
  private let logger: Logger

  /// - Parameters:
  ///   - isWarm: Leaves alone what an earlier process did not end in order.
  ///   - includesQuarantined: Sends again what the server has refused.
  public init(configuration: ProbeConfiguration, isWarm: Bool, includesQuarantined: Bool, logger: Logger) {
    self.configuration = configuration
    selection = isWarm ? .warm : includesQuarantined ? .quarantined : .cold
    self.logger = logger
  }

  /// - Parameters:
  ///   - stop: Gives up; what was not sent stays.
  ///   - print: Takes the line of the result.
  /// - Throws: ``ConfigurationError``, `StoreError`.
  public func run(stop: AsyncStream<Void>, print: (String) -> Void) async throws -> CommandOutcome {
    let report = try await untilStopped(by: stop) {
      try await withControlServer(configuration, for: "there is no server to submit to", logger: logger) {
        try await pass($0)
      }
    }
    print(report.line)
    return report.outcome
  }

  private func pass(_ server: ControlServerClient) async throws -> Sender.Report {
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) submit")
    if selection != .warm { try await store.endInterruptedDrives() }
    let registration = Registration(store: store, server: server)
    let sender = Sender(store: store, server: server, registration: registration, logger: logger) { .current }
    return try await sender.send(selection)
  }
}
