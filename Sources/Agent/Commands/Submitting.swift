import ControlServer
import DriveStore
import Logging
import Submission

/// `submit`: one pass over what waits in the store.
public struct Submitting: Sendable {
  private let configuration: ProbeConfiguration
  private let isWarm: Bool
  private let logger: Logger

  /// - Parameter isWarm: Leaves alone what an earlier process did not end in order.
  public init(configuration: ProbeConfiguration, isWarm: Bool, logger: Logger) {
    self.configuration = configuration
    self.isWarm = isWarm
    self.logger = logger
  }

  /// - Parameter print: Takes the line of the result.
  /// - Throws: ``ConfigurationError``, `StoreError`.
  public func run(print: (String) -> Void) async throws -> CommandOutcome {
    let report = try await withControlServer(configuration, for: "there is no server to submit to", logger: logger) {
      try await pass($0)
    }
    print(report.line)
    return report.sessionsKept == 0 ? .done : .kept
  }

  private func pass(_ server: ControlServerClient) async throws -> Sender.Report {
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) submit")
    if !isWarm { try await store.endInterruptedDrives() }
    let registration = Registration(store: store, server: server)
    let sender = Sender(store: store, server: server, registration: registration, logger: logger) { .current }
    return try await sender.send(isWarm ? .warm : .cold)
  }
}
