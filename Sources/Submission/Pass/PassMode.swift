import Coverage
import DriveStore

/// Which sessions a pass sends. A pure value.
public enum PassMode: Hashable, Sendable, CustomStringConvertible {
  /// What was ended in order: before a request for a test, after a success, from time to time, on command.
  case warm
  /// That, and what an earlier process left unfinished, and fences without a session: once, when a process starts.
  case cold
  /// The sessions of a drive that has just ended.
  case drive(Int64)
  /// As cold, and what the server refused earlier.
  case quarantined

  public var description: String {
    switch self {
    case .warm: "warm"
    case .cold: "cold"
    case .drive(let id): "drive \(id)"
    case .quarantined: "cold, with what was refused"
    }
  }

  /// Whether it takes up what an earlier process left behind.
  var isCold: Bool { self == .cold || self == .quarantined }

  /// The sessions to send, and why others with fences to send are left out.
  ///
  /// - Parameter running: The first of the drives that are being recorded: nothing of them is ever touched.
  func choose(
    from all: [StoredSession], running: Int64?
  ) -> (chosen: [StoredSession], skipped: [(session: StoredSession, reason: String)]) {
    var chosen: [StoredSession] = []
    var skipped: [(StoredSession, String)] = []
    for session in all where session.isWaiting || session.quarantinedFences > 0 {
      if let reason = reasonToSkip(session, running: running) {
        skipped.append((session, reason))
      } else {
        chosen.append(session)
      }
    }
    return (chosen, skipped)
  }

  private func reasonToSkip(_ stored: StoredSession, running: Int64?) -> String? {
    if let running, stored.drive >= running { return "is being recorded" }
    if case .drive(let id) = self, stored.drive != id { return "is of another drive" }
    if stored.session.finalized == nil { return "is unfinished" }
    if !stored.isWaiting, self != .quarantined { return "is quarantined" }
    return nil
  }
}
