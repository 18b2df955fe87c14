/// Why a session is not forgotten yet.
public enum ForgettingError: Error, Hashable, CustomStringConvertible {
  /// The session, or its drive, is not as it was written: which part of the drive log is the session's is unknown.
  case damaged(session: Int64)
  /// The next start completes it.
  case unfinished(session: Int64, reason: String)

  public var description: String {
    switch self {
    case .damaged(let session):
      "session \(session) is damaged, so its part of the drive log is unknown: submit first, which repairs the session, then forget it"
    case .unfinished(let session, let reason):
      "session \(session) is not wholly deleted: \(reason); the next start of the service, or of submit, completes it"
    }
  }
}
