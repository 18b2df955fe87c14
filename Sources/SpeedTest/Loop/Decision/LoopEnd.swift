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
