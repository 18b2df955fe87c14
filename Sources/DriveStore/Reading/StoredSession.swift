import Coverage
import GRDB

/// A session as it lies in the store.
public struct StoredSession: Hashable, Sendable {
  public let id: Int64
  public let drive: Int64
  /// The wall time to which all drive times of ``session`` and its fences relate.
  public let driveStarted: WallTime
  /// The link that was measured, where there were several.
  public let link: String?
  public internal(set) var session: Session
  public let loopUUID: String?
  public let submitted: WallTime?
  /// Why the server refused some of it for good; that is sent again on command only.
  public let quarantineReason: String?
  /// Fences stored for it.
  public let fences: Int
  /// Of these, the ones that Wi-Fi has not touched.
  public let submittableFences: Int
  /// Of these, the ones that the server has, the ones that it refused, and the ones that are to be sent.
  public let submittedFences: Int
  public let quarantinedFences: Int
  public let waitingFences: Int
  /// Fences that are not as they were written, or whose batch is not; they are neither sent nor exported, and in none of the other
  /// counts but ``fences``.
  public let damagedFences: Int
  /// Whether the session itself, or its drive, is not as it was written. What it says of itself, its times and tests, is left out,
  /// and its fences wait for the next cold pass, which sets it right.
  public let isDamaged: Bool
  /// An unfinished session of any other drive on that link was left behind by a process that is gone.
  let isOfLatestDrive: Bool

  public enum State: String, Hashable, Sendable, CaseIterable {
    /// The drive goes on.
    case recording
    /// It waits to be sent.
    case pending
    case submitted
    /// The server refused it; it is kept, and sent again on command only.
    case quarantined
  }

  /// - Parameter isWriterAlive: Whether a process holds the state directory; without one, nothing is being recorded.
  public func state(isWriterAlive: Bool) -> State {
    if submitted != nil { return .submitted }
    if quarantinedFences > 0, waitingFences == 0 { return .quarantined }
    return session.finalized == nil && isOfLatestDrive && isWriterAlive ? .recording : .pending
  }

  /// Whether there is something in it to send that was not sent, and that can be sent as it is.
  public var isWaiting: Bool { waitingFences > 0 && !isDamaged }

  /// For a statement that ends in `GROUP BY session.id`.
  static let columns = """
    session.*, drive.started_at AS drive_started_at, drive.link,
      session.drive_id = (SELECT max(latest.id) FROM drive AS latest WHERE latest.link IS drive.link) AS is_of_latest_drive,
      (SELECT count(*) FROM fence AS stored WHERE stored.session_id = session.id) AS fences,
      count(fence.id) AS readable_fences,
      count(fence.id) FILTER (WHERE fence.submittable) AS submittable_fences,
      count(fence.id) FILTER (WHERE fence.submittable AND fence.submitted_at IS NOT NULL) AS submitted_fences,
      count(fence.id) FILTER (WHERE batch.state = 'quarantined') AS quarantined_fences,
      \(isIntact) AS is_intact
    FROM session JOIN drive ON drive.id = session.drive_id
      LEFT JOIN readable_fence AS fence ON fence.session_id = session.id LEFT JOIN batch ON batch.id = fence.batch_id
    """

  /// The columns without the counts, which read each fence; all counts are 0.
  static let columnsWithoutCounts = """
    session.*, drive.started_at AS drive_started_at, drive.link, 0 AS is_of_latest_drive, 0 AS fences,
      0 AS readable_fences, 0 AS submittable_fences, 0 AS submitted_fences, 0 AS quarantined_fences,
      \(isIntact) AS is_intact
    FROM session JOIN drive ON drive.id = session.drive_id
    """

  private static let isIntact = """
    EXISTS (SELECT 1 FROM intact_session AS whole WHERE whole.id = session.id)
      AND EXISTS (SELECT 1 FROM intact_drive AS whole WHERE whole.id = drive.id)
    """

  init(row: Row) {
    isDamaged = !(row["is_intact"] as Bool)
    // The ids are what the rows are found by. Anything else of a damaged row may be of any type, and any number.
    let said = isDamaged ? Row(["drive_started_at": 0, "number": 0]) : row
    let started = WallTime(microseconds: said["drive_started_at"])
    func time(_ column: String) -> DriveTime? {
      (said[column] as Int64?).map { WallTime(microseconds: $0).since(started) }
    }
    id = row["id"]
    drive = row["drive_id"]
    driveStarted = started
    link = said["link"]
    session = Session(
      number: said["number"], testUUID: said["test_uuid"], started: time("started_at") ?? .start,
      anchor: time("anchor_at"), finalized: time("finalized_at"))
    loopUUID = said["loop_uuid"]
    quarantineReason = said["quarantine_reason"]
    submitted = (said["submitted_at"] as Int64?).map(WallTime.init(microseconds:))
    fences = row["fences"]
    damagedFences = fences - (row["readable_fences"] as Int)
    submittableFences = row["submittable_fences"]
    submittedFences = row["submitted_fences"]
    quarantinedFences = row["quarantined_fences"]
    waitingFences = submittableFences - submittedFences - quarantinedFences
    isOfLatestDrive = row["is_of_latest_drive"]
  }
}

extension StoredSession {
  func with(test: String?, anchor: DriveTime?) -> StoredSession {
    guard let test, let anchor, test != session.testUUID || anchor != session.anchor else { return self }
    return replacing(test: test, anchor: anchor)
  }

  /// For a fence of which nobody knows to which test it went.
  var withoutTest: StoredSession { replacing(test: nil, anchor: nil) }

  private func replacing(test: String?, anchor: DriveTime?) -> StoredSession {
    var changed = self
    changed.session = Session(
      number: session.number, testUUID: test, started: session.started, anchor: anchor, finalized: session.finalized)
    return changed
  }
}
