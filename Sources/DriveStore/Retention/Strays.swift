import Foundation
import GRDB

extension DriveStore {
  /// Deletes those from before `time`.
  func deleteStrays(before time: Int64, _ deleted: inout Deleted) async throws {
    let damaged = directory.damagedStores
    let named = try await database.read { [directory] in try Self.namedLogs(directory, $0) }
    for file in damaged + directory.straysAmongLogs(named) {
      guard let modified = StateDirectory.modified(file), modified < time else { continue }
      guard unlink(file) == 0 else { continue }
      if damaged.contains(file) { deleted.damagedStores += 1 } else { deleted.driveLogs += 1 }
    }
  }

  /// The drive logs that drives name, damaged ones too.
  static func namedLogs(_ directory: StateDirectory, _ db: Database) throws -> Set<String> {
    Set(try String.fetchAll(db, sql: "SELECT log FROM drive WHERE log IS NOT NULL").map(directory.driveLog))
  }
}
