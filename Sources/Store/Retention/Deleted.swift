/// The counts of a clean-up.
public struct Deleted: Hashable, Sendable {
  /// Fences that were too old to be sent.
  public internal(set) var expired = 0
  /// Fences that the server has, and that were stored long enough.
  public internal(set) var sentLongAgo = 0
  /// Sessions without fences.
  public internal(set) var sessions = 0
  /// Speed tests.
  public internal(set) var speedTests = 0
  /// Drive logs, including those that a damaged store no longer names.
  public internal(set) var driveLogs = 0
  /// Damaged stores that were set aside.
  public internal(set) var damagedStores = 0
  /// Fences that are too old by the ruling clock; they stay until another clock confirms it.
  public internal(set) var doubted = 0

  /// Whether nothing was deleted.
  public var isNothing: Bool { expired + sentLongAgo + sessions + speedTests + driveLogs + damagedStores == 0 }
}
