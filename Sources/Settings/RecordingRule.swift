/// When the service records without a command: `agent.record`.
public enum RecordingRule: String, Hashable, Sendable, CaseIterable {
  /// From its start to its end.
  case always
  /// While the device moves.
  case moving
  /// On command only.
  case command
}
