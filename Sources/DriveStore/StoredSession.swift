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

  /// Whether there is something in it to send that was not sent.
  public var isWaiting: Bool { waitingFences > 0 }

  static let columns = """
    session.*, drive.started_at AS drive_started_at, drive.link,
    drive_id = (SELECT max(latest.id) FROM drive AS latest WHERE latest.link IS drive.link) AS is_of_latest_drive,
    (SELECT count(*) FROM fence WHERE session_id = session.id) AS fences,
    (SELECT count(*) FROM fence WHERE session_id = session.id AND submittable) AS submittable_fences,
    (SELECT count(*) FROM fence WHERE session_id = session.id AND submittable AND submitted_at IS NOT NULL)
      AS submitted_fences,
    (SELECT count(*) FROM fence JOIN batch ON batch.id = batch_id
      WHERE fence.session_id = session.id AND state = 'quarantined') AS quarantined_fences
    """

  init(row: Row) {
    let started = WallTime(microseconds: row["drive_started_at"])
    func time(_ column: String) -> DriveTime? {
      (row[column] as Int64?).map { WallTime(microseconds: $0).since(started) }
    }
    id = row["id"]
    drive = row["drive_id"]
    driveStarted = started
    link = row["link"]
    session = Session(
      number: row["number"], testUUID: row["test_uuid"], started: time("started_at") ?? .start,
      anchor: time("anchor_at"), finalized: time("finalized_at"))
    loopUUID = row["loop_uuid"]
    quarantineReason = row["quarantine_reason"]
    submitted = (row["submitted_at"] as Int64?).map(WallTime.init(microseconds:))
    fences = row["fences"]
    submittableFences = row["submittable_fences"]
    submittedFences = row["submitted_fences"]
    quarantinedFences = row["quarantined_fences"]
    waitingFences = submittableFences - submittedFences - quarantinedFences
    isOfLatestDrive = row["is_of_latest_drive"]
  }
}
