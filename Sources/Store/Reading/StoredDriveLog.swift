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

  /// With the given values.
  public init(name: String?, path: String?, hasEnded: Bool = true) {
    (self.name, self.path, self.hasEnded) = (name, path, hasEnded)
  }
}

extension StoreReader {
  /// The logs of all intact drives by the drive's id.
  /// - Throws: GRDB's `DatabaseError`
  public func driveLogs() throws -> [Int64: StoredDriveLog] {
    let rows = try rows("SELECT id, log, ended_at IS NOT NULL AS has_ended FROM intact_drive")
    return Dictionary(rows.map { ($0["id"], log($0["log"], hasEnded: $0["has_ended"])) }) { first, _ in first }
  }

  private func log(_ noted: String?, hasEnded: Bool) -> StoredDriveLog {
    guard let noted, let path = directory?.driveLog(noted) else {
      return StoredDriveLog(name: nil, path: nil, hasEnded: hasEnded)
    }
    let isThere = FileManager.default.fileExists(atPath: path)
    return StoredDriveLog(
      name: URL(fileURLWithPath: path).lastPathComponent, path: isThere ? path : nil, hasEnded: hasEnded)
  }
}
