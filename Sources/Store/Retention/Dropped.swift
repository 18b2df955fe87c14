/// The counts of a deletion for the quota, or on a full disk.
public struct Dropped: Hashable, Sendable {
  /// Fences that the server has.
  public internal(set) var fences = 0
  /// Speed tests that the server has.
  public internal(set) var speedTests = 0
  /// Drive logs, of completely sent drives or of no drive.
  public internal(set) var driveLogs = 0
  /// Files of damaged stores that were set aside.
  public internal(set) var damagedStores = 0
  /// By how many bytes the directory has shrunk.
  public internal(set) var bytes: Int64 = 0
  /// Bytes above the quota that cannot be deleted.
  public internal(set) var bytesOver: Int64 = 0
  /// Fences above the quota that cannot be deleted.
  public internal(set) var fencesOver = 0

  /// Whether nothing was deleted.
  public var isNothing: Bool { fences + speedTests + driveLogs + damagedStores == 0 }
  /// Whether the directory is within its quota now.
  public var isEnough: Bool { bytesOver == 0 && fencesOver == 0 }
}
