import ControlServer
import DriveStore
import Logging
import Submission

/// `agent`: the service, until it is told to end.
public struct Serving: Sendable {
  private let configurationFile: String?
  private let logger: Logger

  /// - Parameter configurationFile: Is read again on request.
  public init(configurationFile: String?, logger: Logger) {
    self.configurationFile = configurationFile
    self.logger = logger
  }

  /// - Parameters:
  ///   - stop: Ends the drive and the service, in order, within seconds.
  ///   - hangUp: Has the configuration read again.
  /// - Throws: ``ConfigurationError``, `StoreError`, and what else keeps the service from beginning.
  public func run(stop: AsyncStream<Void>, hangUp: AsyncStream<Void>) async throws -> CommandOutcome {
    let configuration = try await ProbeConfiguration.load(file: configurationFile)
    return try await withControlServer(configuration, for: "without it there is nothing to ping", logger: logger) {
      let store = try DriveStore(
        directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) agent")
      let loops = try await store.endInterruptedDrives(now: .current)
      let environment = LiveDrive.Environment(
        store: store, server: $0, registration: Registration(store: store, server: $0),
        positions: PositionFeed(configuration, logger: logger), logger: logger)
      let service = Service(
        configuration: configuration, configurationFile: configurationFile, environment: environment, loops: loops)
      try await service.run(stop: stop, hangUp: hangUp)
      return .done
    }
  }
}
