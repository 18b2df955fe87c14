import Logging

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
      let environment = try LiveDrive.Environment(
        configuration: configuration, purpose: "\(Program.name) agent", server: $0, logger: logger)
      LiveDrive.dropPrivileges(logger)
      await environment.recover(configuration)
      let service = Service(
        configuration: configuration, configurationFile: configurationFile, environment: environment)
      try await service.run(stop: stop, hangUp: hangUp)
      return .done
    }
  }
}
