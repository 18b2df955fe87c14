/// How a test ended by itself. Both count as one of the loop's tests.
public enum LoopResult: String, Hashable, Sendable, CaseIterable {
  /// The test has a result.
  case completed
  /// The test has no result.
  case failed
}

/// Why a running test is aborted.
enum LoopAbort: String, Hashable, Sendable, CaseIterable {
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

/// Why a loop ended.
public enum LoopEnd: String, Hashable, Sendable, Codable, CaseIterable {
  /// All tests were made.
  case count
  /// The longest duration has passed.
  case duration
  /// The user stopped the loop.
  case user
  /// The program restarted, and the rules end a loop then.
  case restart
}
