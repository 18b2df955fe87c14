import Coverage

/// What tells a stored session.
public struct SessionMark: Hashable, Sendable {
  public let number: Int
  public let started: WallTime
  public let test: String?
}
