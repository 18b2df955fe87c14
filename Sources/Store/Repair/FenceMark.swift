import Coverage

/// Identifies a stored fence, whatever the clock showed.
public struct FenceMark: Hashable, Sendable {
  /// Its number in its drive, from 0.
  public let number: Int
  /// When it was entered, by the stored times.
  public let entered: WallTime
  /// Its centre.
  public let place: Coordinate
  /// Whether it has not ended.
  public let isOpen: Bool
}
