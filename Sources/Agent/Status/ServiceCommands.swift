import Submission

/// The requests that the service answers.
protocol ServiceCommands: Sendable {
  func status() async -> ServiceStatus
  /// - Returns: The result in one line.
  func perform(_ command: ServiceCommand) async -> String
  func submit(_ mode: PassMode, _ urgency: ServerGate.Urgency) async -> (line: String, outcome: CommandOutcome)
  /// Deletes a session or a speed test permanently.
  func forget(_ target: ForgetTarget) async -> (line: String, outcome: CommandOutcome)
}
