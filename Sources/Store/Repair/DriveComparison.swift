import Coverage
import Foundation
import GRDB

/// The stored drives, to compare them with their logs.
struct DriveComparison: Sendable {
  let store: StoreDatabase
  private var directory: StateDirectory { store.directory }

  /// All drives with a row in the store, oldest first.
  ///
  /// In a store that is too large to be read completely at a start, and without known damage, it looks for damage in
  /// the rows of drives only: ``RowInspection`` reads the fences later, and asks the next start for all of this.
  func drives() async throws -> [ComparableDrive] {
    let isQuick = !store.isReadAtStart && RecoveryMark(directory).need == .none
    return try await store.read { [directory] db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT drive.id, iif(typeof(drive.log) = 'text', drive.log, NULL) AS log, whole.id IS NOT NULL AS is_intact,
            whole.started_at, whole.id IS NOT NULL AND whole.ended_at IS NULL AS is_unfinished, whole.link,
            \(isQuick ? "0 AS has_damage, 0 AS has_gaps, 0 AS is_waiting" : Self.signsOfLoss)
          FROM drive LEFT JOIN intact_drive AS whole ON whole.id = drive.id \(isQuick ? "" : Self.countsOfFences)
          ORDER BY drive.id
          """
      ).map { row in
        ComparableDrive(
          id: row["id"], log: (row["log"] as String?).map(directory.driveLog),
          started: (row["started_at"] as Int64?).map(WallTime.init(microseconds:)), link: row["link"],
          isUnfinished: row["is_unfinished"], hasDamage: !(row["is_intact"] as Bool) || row["has_damage"],
          hasGaps: row["has_gaps"], isWaiting: row["is_waiting"])
      }
    }
  }

  private static let signsOfLoss = """
    EXISTS (SELECT 1 FROM fence WHERE \(RowChecksum.isDamaged("fence")) AND drive_id = drive.id) AS has_damage,
      -- The last fence of a drive mostly ends with it: otherwise the rows behind it may be lost, or all of them.
      ifnull(fences <> highest + 1 OR drive.ended_at <> latest, 1)
        OR EXISTS (SELECT 1 FROM batch JOIN session ON session.id = batch.session_id
          WHERE session.drive_id = drive.id AND batch.state IN ('submitted', 'sending', 'quarantined')
            AND sent_fences > (SELECT count(*) FROM intact_fence WHERE batch_id = batch.id))
        OR EXISTS (SELECT 1 FROM session WHERE \(RowChecksum.isDamaged("session")) AND drive_id = drive.id)
        OR EXISTS (SELECT 1 FROM fence WHERE drive_id = drive.id AND session_id NOT IN (SELECT id FROM session))
        AS has_gaps,
      ifnull(waiting, 0) > 0 AS is_waiting
    """

  private static let countsOfFences = """
    LEFT JOIN (
      SELECT drive_id, count(*) AS fences, max(number) AS highest, max(exited_at) AS latest,
        count(*) FILTER (WHERE submittable AND submitted_at IS NULL) AS waiting
      FROM fence GROUP BY drive_id) ON drive_id = drive.id
    """

  /// The intact fences of `drive`.
  func fenceMarks(of drive: Int64) async throws -> [FenceMark] {
    try await store.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT number, entered_at, latitude, longitude, exited_at IS NULL AS is_open FROM intact_fence
          WHERE drive_id = ? ORDER BY number
          """, arguments: [drive]
      ).compactMap { row in
        Coordinate(latitude: row["latitude"], longitude: row["longitude"]).map {
          FenceMark(
            number: row["number"], entered: WallTime(microseconds: row["entered_at"]), place: $0, isOpen: row["is_open"]
          )
        }
      }
    }
  }

  /// The intact sessions of `drive`.
  func sessionMarks(of drive: Int64) async throws -> [SessionMark] {
    try await store.read { db in
      try Row.fetchAll(
        db,
        sql: "SELECT number, started_at, test_uuid FROM intact_session WHERE drive_id = ?",
        arguments: [drive]
      ).map {
        SessionMark(number: $0["number"], started: WallTime(microseconds: $0["started_at"]), test: $0["test_uuid"])
      }
    }
  }

  /// Drive logs that no drive names, oldest first, and whether each was written before `time`.
  func strayLogs(before time: WallTime) async throws -> [(path: String, isOld: Bool)] {
    let named = try await store.read { [directory] in try NamedLogs.all(in: directory, $0) }
    return directory.straysAmongLogs(named).map { ($0, (StateDirectory.modified($0) ?? .max) < time.microseconds) }
  }
}

/// Identifies a stored session.
struct SessionMark: Hashable, Sendable {
  /// Its number in its drive, from 0.
  let number: Int
  /// When it started, by the stored times.
  let started: WallTime
  /// The UUID of its test; `nil` without one.
  let test: String?
}
