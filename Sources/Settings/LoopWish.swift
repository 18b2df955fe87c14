/// When the service makes speed tests: `agent.loop`.
public enum LoopWish: String, Hashable, Sendable, CaseIterable {
  /// Never.
  case off
  /// While it records.
  case withDrive = "with-drive"
}
