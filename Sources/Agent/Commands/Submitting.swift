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
    guard let url = configuration.controlServer.url else {
      throw ConfigurationError.missing(key: "control-server.url", purpose: "there is no server to submit to")
    }
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) submit")
    if !isWarm { try await store.endInterruptedDrives() }
    let server = try ControlServerClient(
      url: url, caFile: configuration.controlServer.caFile,
      requestTimeout: configuration.controlServer.requestTimeout, device: .thisHost)
    let sender = Sender(
      store: store, server: server, registration: Registration(store: store, server: server), logger: logger
    ) { .current }
    let report: Sender.Report
    do {
      report = try await sender.send(isWarm ? .warm : .cold)
    } catch {
      try? await server.shutdown()
      throw error
    }
    try await server.shutdown()
    print(report.line)
    return report.sessionsKept == 0 ? .done : .kept
  }
}
