import Coverage
import Store

/// The fences of a drive log that the store lacks. Age and quota delete some, and any other is a difference (docs/report.md, Verification).
struct LackingFences {
  /// Fences of which age and quota delete the first ones first.
  private enum Group: Hashable {
    /// The server accepted them together then.
    case sent(WallTime)
    /// Of a drive to a target of the user's own.
    case kept
    /// To be sent, of the session with this number.
    case unsent(session: Int)
    /// Never to be sent.
    case unsendable(session: Int)
  }

  private struct Lacking {
    let session: Int
    let group: Group
    /// Whether its age, or the server's answer, allows its deletion.
    let mayBeDeleted: Bool
  }

  /// By the number of the fence.
  private var fences: [Int: Lacking] = [:]
  /// The lowest number of a stored fence.
  private var firstStored: [Group: Int] = [:]
  private var storedSessions: Set<Int> = []

  var count: Int { fences.count }

  /// All fences of a log, as long as ``confirm(_:as:)`` does not name them.
  init(_ fences: some Sequence<Fence>, of log: RecordedDrive, _ retention: Retention) {
    let accepted = Dictionary(log.accepted.flatMap { batch in batch.fences.map { ($0, batch.accepted) } }) { $1 }
    let (started, now) = (log.correctedStart, WallTime.current)
    for fence in fences {
      func isOlder(than age: Duration) -> Bool {
        (started + (fence.exited ?? fence.entered)).microseconds
          < now.microseconds.saturatingSubtracting(age.inMicroseconds)
      }
      let (group, mayBeDeleted): (Group, Bool) =
        if !fence.isSubmittable {
          (.unsendable(session: fence.session), isOlder(than: retention.keep))
        } else if log.header.target != nil {
          (.kept, true)
        } else if let time = accepted[fence.number] {
          (.sent(time), true)
        } else {
          // Refused ones stay for `keep`.
          (.unsent(session: fence.session), isOlder(than: min(retention.maxAge, retention.keep)))
        }
      self.fences[fence.number] = Lacking(session: fence.session, group: group, mayBeDeleted: mayBeDeleted)
    }
  }

  /// The store has the fence with this number in the log.
  mutating func confirm(_ number: Int, as stored: StoredFence) {
    guard let fence = fences.removeValue(forKey: number) else { return }
    storedSessions.insert(fence.session)
    // The quota deletes by ids, and those of recovered fences can be any.
    if stored.isRecovered { return }
    // These do not expire with the others of their session.
    if case .unsent = fence.group, stored.submitted != nil || stored.session.quarantineReason != nil { return }
    firstStored[fence.group] = min(firstStored[fence.group] ?? number, number)
  }

  /// How many of them age or quota can have deleted.
  /// - Parameter sessions: The numbers of the drive's sessions in the store: each is deleted with its last fence.
  func deleted(sessions: Set<Int>) -> Int {
    fences.count { number, fence in
      fence.mayBeDeleted && number < firstStored[fence.group] ?? .max
        && (storedSessions.contains(fence.session) || !sessions.contains(fence.session))
    }
  }
}

extension RecordedDrive {
  /// The start of the drive, with the corrections of its clock in the log.
  var correctedStart: WallTime {
    events.reduce(header.started) { started, event in
      if case .clockSet(let step) = event.kind { started + DriveTime(step) } else { started }
    }
  }
}
