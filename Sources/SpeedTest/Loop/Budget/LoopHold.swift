/// Why a test that is due cannot start.
public enum LoopHold: String, Hashable, Sendable, Codable, CaseIterable {
  /// The operator paused the loop, or the host is about to sleep.
  case inactive
  /// Another link than a mobile network would carry the test.
  case otherLink
  /// Distance counts, and there is no accurate fix.
  case noFix
  /// The data limit of the day is used up.
  case dayLimit
  /// The data limit of the month is used up.
  case monthLimit
}
