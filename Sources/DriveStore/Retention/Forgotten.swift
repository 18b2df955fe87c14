/// What forgetting a session came to.
public struct Forgotten: Hashable, Sendable {
  public let session: Int64
  public let fences: Int
  /// The drive log that went with it: it was the drive's last session.
  public let deletedLog: String?
  /// The drive log that stays, as other sessions of the drive do; the way is in it.
  public let keptLog: String?
  /// Damaged stores that were set aside, in which the session may still be.
  public let damagedStores: [String]
}
