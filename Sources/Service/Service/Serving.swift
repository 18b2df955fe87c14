import CPinger
import Coverage
import Driving
import Foundation
import Logging
import Settings
import Submission

/// `agent`: runs the service until it is stopped.
public enum Serving {
  /// Runs the service.
  /// - Parameters:
  ///   - stop: Ends the drive and the service within seconds.
  ///   - interim: Passes the lines of ``ServiceClient/status(asJSON:)`` to `note`.
  /// - Throws: ``ConfigurationError``, `StoreError`, and errors of the service's start.
  public static func run(
    configurationFile: String?, logger: Logger, stop: AsyncStream<Void>, hangUp: AsyncStream<Void>,
    interim: AsyncStream<Void>,
    note: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    // Each drive has a pinger with a large ring of events: its memory must return to the system when the drive ends.
    cpprocess_limit_heap()
    let configuration = try ProbeConfiguration.load(file: configurationFile)
    let server = try ControlServerClient.configured(
      configuration, for: ControlServerClient.nothingToPing, unlessTarget: true)
    let environment = try DriveEnvironment(
      configuration: configuration, purpose: "\(Program.name) agent", server: server, logger: logger)
    LiveDrive.dropPrivileges(logger)
    let service = Service(
      configuration: configuration, environment: environment,
      isRecoveryLeft: await environment.recoverBeforeDrive(configuration),
      variables: ProcessInfo.processInfo.environment)
    let answering = Task { for await _ in interim { await service.status().lines.forEach(note) } }
    defer { answering.cancel() }
    try await service.run(stop: stop, hangUp: hangUp)
    return .done
  }
}
