import Coverage
import Foundation
import GRDB

/// The log of a stored drive, there or not.
public struct StoredDriveLog: Hashable, Sendable {
  /// The name of the file in the directory of drive logs; `nil` when the drive was recorded without a log.
  public let name: String?
  /// Its path; `nil` when the file is not there: deleted by age or quota, or left on another medium.
  public let path: String?
  /// Whether the drive has ended; if not, it is running, or left from a process that is gone.
  public let hasEnded: Bool
  /// The numbers of the drive's sessions in the store, damaged ones included; age and quota delete each with its last fence.
  public let sessions: Set<Int>

  public init(name: String?, path: String?, hasEnded: Bool = true, sessions: Set<Int> = []) {
    (self.name, self.path, self.hasEnded, self.sessions) = (name, path, hasEnded, sessions)
  }
}

extension StoreReader {
  /// The logs of all intact drives by the drive's id.
  /// - Throws: GRDB's `DatabaseError`
  public func driveLogs() throws -> [Int64: StoredDriveLog] {
    let known = try rows(
      "SELECT drive_id, number FROM session WHERE typeof(drive_id) = 'integer' AND typeof(number) = 'integer'")
    let sessions = Dictionary(grouping: known) { $0["drive_id"] as Int64 }
    let rows = try rows("SELECT id, log, ended_at IS NOT NULL AS has_ended FROM intact_drive")
    let logs = rows.map { row in
      let noted: String? = row["log"]
      return StoredDriveLog(
        name: noted.flatMap { directory?.driveLog($0) }.map { URL(fileURLWithPath: $0).lastPathComponent },
        path: noted.flatMap { directory?.presentDriveLog($0) }, hasEnded: row["has_ended"],
        sessions: Set(sessions[row["id"], default: []].map { $0["number"] }))
    }
    return Dictionary(zip(rows.map { $0["id"] as Int64 }, logs)) { first, _ in first }
  }
}
