/// A command that an operator sends to the running service.
public enum ServiceCommand: String, Hashable, Sendable, CaseIterable {
  /// Record from now on, regardless of `agent.record`.
  case start
  /// End the drive, and begin none until `start` or `resume`.
  case stop
  /// End the drive; `resume` restores the state before.
  case pause
  /// Undo `pause` or `stop`.
  case resume
}
