import CPinger
import Driving
import Logging
import Settings

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
  ///   - interim: Has `note` take the lines of ``ServiceClient/status(asJSON:)``.
  /// - Throws: ``ConfigurationError``, `StoreError`, and what else keeps the service from beginning.
  public func run(
    stop: AsyncStream<Void>, hangUp: AsyncStream<Void>, interim: AsyncStream<Void>,
    note: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    // A pinger's ring of events is such a block, and each drive has one.
    cpprocess_return_large_blocks()
    let configuration = try ProbeConfiguration.load(file: configurationFile)
    return try await withControlServer(configuration, for: "without it there is nothing to ping", logger: logger) {
      let environment = try DriveEnvironment(
        configuration: configuration, purpose: "\(Program.name) agent", server: $0, logger: logger)
      LiveDrive.dropPrivileges(logger)
      await environment.recover(configuration)
      let service = Service(
        configuration: configuration, configurationFile: configurationFile, environment: environment)
      let answering = Task { for await _ in interim { await service.status().lines.forEach(note) } }
      defer { answering.cancel() }
      try await service.run(stop: stop, hangUp: hangUp)
      return .done
    }
  }
}
