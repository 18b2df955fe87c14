/// What a damaged store may lack; decides how thorough a recovery is.
public enum RecoveryNeed: Int, Comparable, Sendable {
  case none
  /// Single rows.
  case damaged
  /// The latest writes: fences that were sent may count as unsent.
  case rolledBack

  /// A greater need includes the lesser ones.
  public static func < (left: RecoveryNeed, right: RecoveryNeed) -> Bool { left.rawValue < right.rawValue }
}
