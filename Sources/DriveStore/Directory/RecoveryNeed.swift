/// What a damaged store may lack.
public enum RecoveryNeed: Int, Comparable, Sendable {
  case none
  /// Rows, here and there.
  case damaged
  /// All that was written last: what was sent then may count as unsent.
  case rolledBack

  public static func < (left: RecoveryNeed, right: RecoveryNeed) -> Bool { left.rawValue < right.rawValue }
}
