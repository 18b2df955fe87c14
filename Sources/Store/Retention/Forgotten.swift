/// The result of forgetting a session.
public struct Forgotten: Hashable, Sendable {
  /// The id of the session.
  public let session: Int64
  /// The number of deleted fences.
  public let fences: Int
  /// The deleted drive log, when it was the drive's last session.
  public let deletedLog: String?
  /// The drive log that stays, because other sessions of the drive exist; it still contains the positions.
  public let keptLog: String?
  /// Damaged stores that were set aside, which may still contain the session.
  public let damagedStores: [String]
}
