/// Why a running test is aborted, in words for an operator.
enum LoopAbort: String, Hashable, Sendable, CaseIterable {
  case paused = "the loop was paused"
  case asleep = "the host was about to sleep"
  case suspended = "the host was suspended"
  /// ``LoopRules/testLimit``
  case overdue = "the test did not end in time"
  case restarted = "the program ended during the test"
  case ended = "the loop ended"
}

public enum LoopEnd: String, Hashable, Sendable, Codable, CaseIterable {
  /// All tests were made.
  case count
  case duration
  case user
  /// The program restarted, and the rules end a loop then.
  case restart
}
