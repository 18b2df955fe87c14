import Coverage
import GRDB

/// A stored session, with the counts of its fences.
public struct StoredSession: Hashable, Sendable {
  /// Its id in the store, which commands take.
  public let id: Int64
  /// The id of its drive.
  public let drive: Int64
  /// The start of the drive, which all drive times of ``session`` and its fences relate to.
  public let driveStarted: WallTime
  /// The measured link; `nil` when the drive had one link only.
  public let link: String?
  /// The user's own target of the drive's pings, e.g. `icmp 192.0.2.1`; `nil`: the control server's.
  public let target: String?
  /// The identity of the store, a UUID: ids are unique with it only. `nil` when its row is damaged.
  public let store: String?
  /// The clock that dates the drive: `gnss`, `server` or `host`; `nil` when no clock of its boot is known (docs/clock.md).
  public let clock: String?
  /// The session as the drive recorded it.
  public internal(set) var session: Session
  /// The loop that it belongs to, from the server.
  public var loopUUID: String? { session.loopUUID }
  /// When its last fence was accepted; `nil` while fences are unsent.
  public let submitted: WallTime?
  /// Why some of its fences are quarantined; these are sent again on command only.
  public let quarantineReason: String?
  /// The number of its stored fences, damaged ones included.
  public let fences: Int
  /// The fences that Wi-Fi did not touch.
  public let submittableFences: Int
  /// The fences that the server has accepted.
  public let submittedFences: Int
  /// The quarantined fences: the server has refused them, or may have them.
  public let quarantinedFences: Int
  /// The fences that Wi-Fi did not touch, of a drive with a target of its own: they are never sent.
  public let keptFences: Int
  /// The fences that are to be sent.
  public let waitingFences: Int
  /// Damaged fences, and unsent fences in a damaged batch; in a large store, without those that the server has. They are
  /// neither sent nor exported, and are included in ``fences`` only.
  public let damagedFences: Int
  /// Whether the session's row, or that of its drive, is damaged. Then its times and tests are omitted, and its
  /// fences wait until a cold pass repairs it.
  public let isDamaged: Bool
  /// If not, an unfinished session is left from a process that is gone.
  let isOfLatestDrive: Bool

  /// The state of a session, as `sessions` lists it.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// The drive is running.
    case recording
    /// It has unsent fences.
    case pending
    case submitted
    /// The server refused fences of it, or may have them; they stay stored, and are sent again on command only.
    case quarantined
    /// Its drive has a target of its own: it stays here, and is never submitted.
    case kept
  }

  /// - Parameter isWriterAlive: Whether a process is writing to the state directory; if none is, no session is
  ///   `recording`.
  public func state(isWriterAlive: Bool) -> State {
    if submitted != nil { return .submitted }
    if quarantinedFences > 0, waitingFences == 0 { return .quarantined }
    if session.finalized == nil, isOfLatestDrive, isWriterAlive { return .recording }
    return target != nil || keptFences > 0 && waitingFences == 0 ? .kept : .pending
  }

  /// Whether it has unsent fences that can be sent as they are.
  public var isWaiting: Bool { waitingFences > 0 && !isDamaged }

  /// For a statement that ends in `GROUP BY session.id`.
  static let columns = reading(
    "true", sent: "0",
    submitted: "count(fence.id) FILTER (WHERE fence.submittable AND fence.submitted_at IS NOT NULL)")

  /// As ``columns``, but does not check the rows of fences that the server has: they count as readable and submittable, whether their
  /// rows are damaged or not. Indices count them, so that a million takes a fraction of a second.
  static let columnsWithSentCounted = reading(
    "fence.submitted_at IS NULL",
    sent: """
      (SELECT count(*) FROM fence AS stored WHERE stored.session_id = session.id)
        - (SELECT count(*) FROM fence AS unsent WHERE unsent.session_id = session.id AND unsent.submitted_at IS NULL)
      """, submitted: "0")

  /// Only the fences that the server does not have, as ``UnsentCounts`` has them.
  static let columnsWithUnsentCounted = """
    \(columns(
      fences: unsent, readable: unsent, submittable: unsent, quarantined: "CAST(ifnull(counts.quarantined, 0) AS INTEGER)"))
      LEFT JOIN \(UnsentCounts.bySession) AS counts ON counts.session_id = session.id
    """

  /// If damage has taken the counts, the index counts: these sessions have unsent fences.
  static let unsent = """
    CAST(ifnull(nullif(max(counts.waiting + counts.quarantined, 0), 0), (SELECT count(*) FROM fence AS unsent
      WHERE unsent.session_id = session.id AND unsent.submitted_at IS NULL AND unsent.submittable)) AS INTEGER)
    """

  /// The columns without the counts, which would read each fence; all counts are 0.
  static let columnsWithoutCounts = columns(isOfLatestDrive: "0")

  /// Columns that count the fences which meet a condition.
  private static func reading(_ condition: String, sent: String, submitted: String) -> String {
    """
    \(columns(
      fences: "(SELECT count(*) FROM fence AS stored WHERE stored.session_id = session.id)", sent: sent,
      readable: "count(fence.id)", submittable: "count(fence.id) FILTER (WHERE fence.submittable)",
      kept: "count(fence.id) FILTER (WHERE fence.kept)", submitted: submitted,
      quarantined: "count(fence.id) FILTER (WHERE batch.state = 'quarantined')"))
      LEFT JOIN readable_fence AS fence ON fence.session_id = session.id AND \(condition)
      LEFT JOIN batch ON batch.id = fence.batch_id
    """
  }

  private static func columns(
    isOfLatestDrive: String = isOfLatestDrive, fences: String = "0", sent: String = "0", readable: String = "0",
    submittable: String = "0", kept: String = "0", submitted: String = "0", quarantined: String = "0"
  ) -> String {
    """
    session.*, drive.started_at AS drive_started_at, drive.link, drive.target, \(provenance),
      \(isOfLatestDrive) AS is_of_latest_drive, \(fences) AS fences, \(sent) AS sent_fences, \(readable) AS readable_fences,
      \(submittable) AS submittable_fences, \(kept) AS kept_fences, \(submitted) AS submitted_fences,
      \(quarantined) AS quarantined_fences, \(isIntact) AS is_intact
    FROM session JOIN drive ON drive.id = session.drive_id
    """
  }

  private static let provenance = """
    (SELECT uuid FROM intact_identity) AS store_uuid,
      (SELECT ruled_by FROM intact_clock AS clock WHERE clock.boot_id = drive.boot_id) AS ruled_by
    """

  private static let isOfLatestDrive =
    "session.drive_id = (SELECT max(latest.id) FROM drive AS latest WHERE latest.link IS drive.link)"

  private static let isIntact = """
    EXISTS (SELECT 1 FROM intact_session AS whole WHERE whole.id = session.id)
      AND EXISTS (SELECT 1 FROM intact_drive AS whole WHERE whole.id = drive.id)
    """

  /// A session without counts, for fences with given values; the store makes its own from rows.
  public init(
    id: Int64, drive: Int64, driveStarted: WallTime, session: Session = Session(number: 0, started: .start),
    link: String? = nil, target: String? = nil, store: String? = nil, clock: String? = nil
  ) {
    (self.id, self.drive, self.driveStarted, self.session) = (id, drive, driveStarted, session)
    (self.link, self.target, self.store, self.clock) = (link, target, store, clock)
    (submitted, quarantineReason, isDamaged, isOfLatestDrive) = (nil, nil, false, false)
    (fences, submittableFences, submittedFences, quarantinedFences) = (0, 0, 0, 0)
    (keptFences, waitingFences, damagedFences) = (0, 0, 0)
  }

  init(row: Row) {
    isDamaged = !(row["is_intact"] as Bool)
    // The rows are found by their ids. Any other value of a damaged row may have any type and any size.
    let said = isDamaged ? Row(["drive_started_at": 0, "number": 0]) : row
    let started = WallTime(microseconds: said["drive_started_at"])
    func time(_ column: String) -> DriveTime? {
      (said[column] as Int64?).map { WallTime(microseconds: $0).since(started) }
    }
    id = row["id"]
    drive = row["drive_id"]
    driveStarted = started
    (link, target) = (said["link"], said["target"])
    (store, clock) = (row["store_uuid"], said["ruled_by"])
    session = Session(
      number: said["number"], testUUID: said["test_uuid"], started: time("started_at") ?? .start,
      anchor: time("anchor_at"), finalized: time("finalized_at"), loopUUID: said["loop_uuid"],
      equipment: EquipmentColumn.read(said["equipment"]))
    quarantineReason = said["quarantine_reason"]
    submitted = (said["submitted_at"] as Int64?).map(WallTime.init(microseconds:))
    fences = row["fences"]
    // Those that were not read.
    let sent: Int = row["sent_fences"]
    damagedFences = fences - sent - (row["readable_fences"] as Int)
    submittableFences = sent + (row["submittable_fences"] as Int)
    submittedFences = sent + (row["submitted_fences"] as Int)
    quarantinedFences = row["quarantined_fences"]
    keptFences = row["kept_fences"]
    waitingFences = submittableFences - submittedFences - quarantinedFences
    isOfLatestDrive = row["is_of_latest_drive"]
  }
}

extension StoredSession {
  func with(test: String?, anchor: DriveTime?) -> StoredSession {
    guard let test, let anchor, test != session.testUUID || anchor != session.anchor else { return self }
    return changed(test: test, anchor: anchor)
  }

  /// For a fence whose test is unknown.
  var withoutTest: StoredSession { changed(test: nil, anchor: nil) }

  private func changed(test: String?, anchor: DriveTime?) -> StoredSession {
    var changed = self
    changed.session = Session(
      number: session.number, testUUID: test, started: session.started, anchor: anchor, finalized: session.finalized,
      loopUUID: session.loopUUID, equipment: session.equipment)
    return changed
  }
}
