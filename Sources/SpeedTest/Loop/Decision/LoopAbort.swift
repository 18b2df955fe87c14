/// Why a running test is aborted.
public enum LoopAbort: String, Hashable, Sendable, CaseIterable {
  /// The operator paused the loop.
  case paused
  /// The host is about to sleep.
  case asleep
  /// The host was suspended during the test.
  case suspended
  /// The test did not end within ``LoopRules/testLimit``.
  case overdue
  /// The program restarted during the test.
  case restarted
  /// The loop ended during the test.
  case ended
}
