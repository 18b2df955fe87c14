import Coverage

/// Identifies a stored session.
public struct SessionMark: Hashable, Sendable {
  /// Its number in its drive, from 0.
  public let number: Int
  /// When it started, by the stored times.
  public let started: WallTime
  /// The UUID of its test; `nil` without one.
  public let test: String?
}
