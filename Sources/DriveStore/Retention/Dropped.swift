/// What was dropped so that a state directory is within its quota, or a full disk has room.
public struct Dropped: Hashable, Sendable {
  /// Fences that the server has.
  public internal(set) var fences = 0
  public internal(set) var driveLogs = 0
  /// Files of damaged stores that were set aside.
  public internal(set) var damagedStores = 0
  /// So many bytes fewer are in the directory.
  public internal(set) var bytes: Int64 = 0
  /// What is still too much: nothing else may go.
  public internal(set) var bytesOver: Int64 = 0
  public internal(set) var fencesOver = 0

  public var isNothing: Bool { fences + driveLogs + damagedStores == 0 }
  public var isEnough: Bool { bytesOver == 0 && fencesOver == 0 }
}
