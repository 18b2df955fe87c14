/// How a test ended by itself. Both count as one of the loop's tests.
public enum LoopResult: String, Hashable, Sendable, CaseIterable {
  /// The test has a result.
  case completed
  /// The test has no result.
  case failed
}
