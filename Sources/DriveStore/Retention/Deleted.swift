/// What a clean-up has deleted.
public struct Deleted: Hashable, Sendable {
  /// Fences that were too old to be sent.
  public internal(set) var expired = 0
  /// Fences that had been kept long enough.
  public internal(set) var kept = 0
  public internal(set) var sessions = 0
  /// Also such as no drive has: a damaged store has lost it.
  public internal(set) var driveLogs = 0
  /// Damaged stores that were set aside.
  public internal(set) var damagedStores = 0
  /// Fences that look too old to be sent, and stay until another clock agrees with the one that says so.
  public internal(set) var doubted = 0

  public var isNothing: Bool { expired + kept + sessions + driveLogs + damagedStores == 0 }
}
