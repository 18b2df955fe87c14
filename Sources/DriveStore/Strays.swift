import Coverage
import Foundation
import GRDB

/// Files that a damaged store leaves behind: itself, set aside, and drive logs that no drive names any more. Perhaps something lies in
/// them that was not sent and is nowhere else, so that they go by their age only, never for a quota.
extension StateDirectory {
  /// Damaged stores that were set aside, each with its write-ahead log.
  var damagedStores: [String] { files.keys.filter { $0.hasPrefix(database + ".corrupt-") }.sorted() }

  /// When `file` was written last, or set aside, in microseconds since the epoch.
  static func modified(_ file: String) -> Int64? {
    var status = stat()
    guard lstat(file, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1000
  }
}

extension DriveStore {
  /// Deletes those from before `time`, unless the clock that says so may be wrong: nobody agrees with it, and there is a long time
  /// after them of which the store knows nothing.
  func deleteStrays(before time: Int64, now: WallTime, witness: ClockWitness, _ deleted: inout Deleted) async throws {
    let damaged = directory.damagedStores
    for file in try await damaged + straysAmongLogs() {
      guard let modified = StateDirectory.modified(file), modified < time else { continue }
      if witness == .silent {
        let silence = try await database.read { try Self.lastSilence(until: now, and: modified, $0) }
        if let silence, silence >= modified { continue }
      }
      guard unlink(file) == 0 else { continue }
      if damaged.contains(file) { deleted.damagedStores += 1 } else { deleted.driveLogs += 1 }
    }
  }

  /// Drive logs that no drive names, not even a damaged one.
  private func straysAmongLogs() async throws -> [String] {
    let named = try await database.read { [directory] db in
      Set(try String.fetchAll(db, sql: "SELECT log FROM drive WHERE log IS NOT NULL").map(directory.driveLog))
    }
    return directory.files.keys.filter {
      $0.hasPrefix(directory.driveLogs + "/") && $0.hasSuffix(".jsonl") && !named.contains($0)
    }.sorted()
  }
}
