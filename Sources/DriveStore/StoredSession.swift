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
  public let session: Session
  public let loopUUID: String?
  public let submitted: WallTime?
  /// Why the server refused it for good; such a session is sent again on command only.
  public let quarantineReason: String?
  /// Fences stored for it.
  public let fences: Int
  /// Of these, the ones that Wi-Fi has not touched.
  public let submittableFences: Int

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
    if quarantineReason != nil { return .quarantined }
    return session.finalized == nil && isWriterAlive ? .recording : .pending
  }

  /// Whether there is something in it to send that was not sent.
  public var isWaiting: Bool { submitted == nil && submittableFences > 0 }

  static let columns = """
    session.*, drive.started_at AS drive_started_at, drive.link,
    (SELECT count(*) FROM fence WHERE session_id = session.id) AS fences,
    (SELECT count(*) FROM fence WHERE session_id = session.id AND submittable) AS submittable_fences
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
  }
}
