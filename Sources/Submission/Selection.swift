import Coverage
import DriveStore

/// Which sessions a pass sends, and in which order. A pure value.
public enum Selection: Hashable, Sendable {
  /// The sessions of a drive that has just ended, on all its links.
  case drives(Set<Int64>)
  /// What was ended in order and has a test.
  case warm
  /// All that waits. What an earlier process left unfinished must have been ended before.
  case cold
  /// The same, and what the server refused earlier.
  case quarantined

  /// The newest session first.
  public func sessions(from all: [StoredSession]) -> [StoredSession] {
    all.filter { $0.isWaiting && ($0.quarantineReason == nil || self == .quarantined) && selects($0) }
      .sorted { ($0.driveStarted + $0.session.started, $0.id) > ($1.driveStarted + $1.session.started, $1.id) }
  }

  private func selects(_ stored: StoredSession) -> Bool {
    switch self {
    case .drives(let ids): ids.contains(stored.drive)
    case .warm: stored.session.testUUID != nil && stored.session.finalized != nil
    case .cold, .quarantined: stored.session.finalized != nil
    }
  }
}
