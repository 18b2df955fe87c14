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
  /// Whether the store has a session of the drive, damaged ones included; of an ended drive without any, age or quota deleted all.
  public let hasSessions: Bool

  /// With the given values.
  public init(name: String?, path: String?, hasEnded: Bool = true, hasSessions: Bool = true) {
    (self.name, self.path, self.hasEnded, self.hasSessions) = (name, path, hasEnded, hasSessions)
  }
}

extension StoreReader {
  /// The logs of all intact drives by the drive's id.
  /// - Throws: GRDB's `DatabaseError`
  public func driveLogs() throws -> [Int64: StoredDriveLog] {
    let rows = try rows(
      """
      SELECT id, log, ended_at IS NOT NULL AS has_ended,
        EXISTS (SELECT 1 FROM session WHERE drive_id = intact_drive.id) AS has_sessions FROM intact_drive
      """)
    return Dictionary(rows.map { ($0["id"], log($0)) }) { first, _ in first }
  }

  private func log(_ row: Row) -> StoredDriveLog {
    let path = (row["log"] as String?).flatMap { directory?.driveLog($0) }
    let isThere = path.map(FileManager.default.fileExists) ?? false
    return StoredDriveLog(
      name: path.map { URL(fileURLWithPath: $0).lastPathComponent }, path: isThere ? path : nil,
      hasEnded: row["has_ended"], hasSessions: row["has_sessions"])
  }
}
