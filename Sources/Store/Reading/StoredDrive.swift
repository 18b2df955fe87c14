import Coverage
import Foundation
import GRDB

/// A stored drive whose log is still there.
public struct StoredDrive: Sendable {
  /// Its id in the store.
  public let id: Int64
  /// The path of the log.
  public let log: String
  /// The start of the drive; the times of the log and of the sessions relate to it.
  public let started: WallTime
  /// The measured link; `nil` when the drive had one link only.
  public let link: String?
  /// Its sessions in order; their counts are 0.
  public let sessions: [StoredSession]
}

extension StoreReader {
  /// The intact drives whose logs are there, oldest first, with their intact sessions.
  /// - Parameter session: The id of the only session; `nil`: all sessions.
  /// - Throws: GRDB's `DatabaseError`.
  public func drivesWithLogs(session: Int64? = nil) throws -> [StoredDrive] {
    let sessions = try rows(
      """
      SELECT \(StoredSession.columnsWithoutCounts) WHERE (:session IS NULL OR session.id = :session) ORDER BY session.id
      """, ["session": session]
    ).map(StoredSession.init).filter { !$0.isDamaged }
    let ofDrive = Dictionary(grouping: sessions, by: \.drive)
    return try rows("SELECT id, log FROM intact_drive WHERE log IS NOT NULL ORDER BY id").compactMap { row in
      guard let sessions = ofDrive[row["id"]], let first = sessions.first,
        let log = directory?.presentDriveLog(row["log"])
      else {
        return nil
      }
      return StoredDrive(
        id: row["id"], log: log, started: first.driveStarted, link: first.link, sessions: sessions)
    }
  }
}
