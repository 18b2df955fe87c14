import Submission

/// The requests that the service answers, for the socket and the live page. Tests replace the service.
protocol ServiceCommands: Sendable {
  func status() async -> ServiceStatus
  /// - Returns: The result in one line.
  func perform(_ command: ServiceCommand) async -> String
  /// Runs a pass, and returns when it has ended.
  /// - Returns: The result in one line, and how it ended.
  func submit(_ mode: PassMode, _ urgency: ServerGate.Urgency) async -> (line: String, outcome: CommandOutcome)
  /// Deletes a session or a speed test permanently.
  /// - Returns: The result in lines, and how it ended.
  func forget(_ target: ForgetTarget) async -> (line: String, outcome: CommandOutcome)
}
