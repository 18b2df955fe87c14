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

/// Why a session still exists after a request to forget it.
public enum ForgettingError: Error, Hashable, CustomStringConvertible {
  /// The row of the session or its drive is damaged, so the session's part of the drive log is unknown.
  case damaged(session: Int64)
  /// The deletion was interrupted; the next start completes it.
  case unfinished(session: Int64, reason: String)

  /// The reason and the remedy, in one line.
  public var description: String {
    switch self {
    case .damaged(let session):
      "session \(session) is damaged, so its part of the drive log is unknown: run `submit`, which repairs it, then forget it again"
    case .unfinished(let session, let reason):
      "session \(session) is not wholly deleted: \(reason); the next start of the service, or of submit, completes it"
    }
  }
}
