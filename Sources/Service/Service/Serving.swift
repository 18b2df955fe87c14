import CPinger
import Coverage
import Driving
import Foundation
import Logging
import Settings

/// `agent`: runs the service until it is stopped.
public struct Serving: Sendable {
  private let configurationFile: String?
  private let logger: Logger

  /// - Parameters:
  ///   - configurationFile: Read again at each SIGHUP; `nil`: the environment alone.
  ///   - logger: The program's log.
  public init(configurationFile: String?, logger: Logger) {
    self.configurationFile = configurationFile
    self.logger = logger
  }

  /// Runs the service.
  /// - Parameters:
  ///   - stop: Ends the drive and the service within seconds.
  ///   - hangUp: Makes the service read its configuration again.
  ///   - interim: Passes the lines of ``ServiceClient/status(asJSON:)`` to `note`.
  ///   - note: Receives lines for the operator.
  /// - Throws: ``ConfigurationError``, `StoreError`, and errors of the service's start.
  public func run(
    stop: AsyncStream<Void>, hangUp: AsyncStream<Void>, interim: AsyncStream<Void>,
    note: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    // Each drive has a pinger with a large ring of events: its memory must return to the system when the drive ends.
    cpprocess_limit_heap()
    let configuration = try ProbeConfiguration.load(file: configurationFile)
    return try await withControlServer(
      configuration, for: "without it or pings.target.host there is nothing to ping", unlessTarget: true, logger: logger
    ) {
      let environment = try DriveEnvironment(
        configuration: configuration, purpose: "\(Program.name) agent", server: $0, logger: logger)
      LiveDrive.dropPrivileges(logger)
      let service = Service(
        configuration: configuration, configurationFile: configurationFile, environment: environment,
        isRecoveryLeft: await environment.recoverBeforeDrive(configuration),
        variables: ProcessInfo.processInfo.environment)
      let answering = Task { for await _ in interim { await service.status().lines.forEach(note) } }
      defer { answering.cancel() }
      try await service.run(stop: stop, hangUp: hangUp)
      return .done
    }
  }
}

/// A line of the log as the journal takes it with fields of its own (systemd's "Native Journal Protocol").
public struct JournalEntry: Hashable, Sendable {
  private let line: String
  private let priority: Int
  private let event: OperatorEvent

  /// - Parameters:
  ///   - line: One line, without control characters.
  ///   - priority: 2 (critical) to 7 (debug), as in syslog(3).
  ///   - event: Gives the entry its `MESSAGE_ID`.
  public init(_ line: String, priority: Int, _ event: OperatorEvent) {
    (self.line, self.priority, self.event) = (line, priority, event)
  }

  /// The fields, each a line.
  public var datagram: [UInt8] {
    let fields = [
      "MESSAGE=\(line)", "PRIORITY=\(priority)", "MESSAGE_ID=\(event.messageID)", "COVERAGE_PROBE_EVENT=\(event)",
      "SYSLOG_IDENTIFIER=\(Program.name)",
    ]
    return Array((fields.joined(separator: "\n") + "\n").utf8)
  }
}
