/// The stage of a loop.
public enum LoopStage: Hashable, Sendable, Codable {
  /// It waits for the next test.
  case waiting
  /// The latest test is running.
  case testing
  /// It is over. No input leads out of this stage.
  case ended(LoopEnd)
}
