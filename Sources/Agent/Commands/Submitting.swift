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
    do {
      let report = try await untilStopped(by: stop) {
        try await withControlServer(configuration, for: "there is no server to submit to", logger: logger) {
          try await pass($0)
        }
      }
      print(report.line)
      return report.outcome
    } catch let error as StoreError {
      guard case .inUse = error, selection != .quarantined else { throw error }
      // The service has the store: it can do this as well. If that is no service, the store's own error says more.
      guard let result = try? await ServiceClient(configuration: configuration).submit() else { throw error }
      print(result.line)
      return result.outcome
    }
  }

  private func pass(_ server: ControlServerClient) async throws -> Sender.Report {
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) submit")
    if selection != .warm { try await store.endInterruptedDrives(now: .current) }
    try await store.settleClocks(now: .current, logger: logger)
    let registration = Registration(store: store, server: server)
    let sender = Sender(store: store, server: server, registration: registration, logger: logger) { .current }
    return try await sender.send(selection)
  }
}
