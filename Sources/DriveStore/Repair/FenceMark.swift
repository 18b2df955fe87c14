import Coverage

/// What tells a stored fence from all others, whatever the clock said.
public struct FenceMark: Hashable, Sendable {
  public let number: Int
  public let entered: WallTime
  public let place: Coordinate
  public let isOpen: Bool
}
