import Foundation
import GRDB

/// Deletes a session as if it had never been.
struct SessionErasure {
  let store: StoreDatabase

  /// See ``DriveStore/forget(session:)``.
  func forget(_ session: Int64) async throws -> Forgotten? {
    let forgotten = try await store.write { [directory = store.directory] db -> Forgotten? in
      guard
        let drive = try Row.fetchOne(
          db,
          sql: """
            SELECT drive.id, session.number, (SELECT log FROM intact_drive WHERE id = drive.id) AS log,
              (SELECT count(*) FROM session WHERE drive_id = drive.id) AS sessions
            FROM drive JOIN session ON drive_id = drive.id WHERE session.id = ?
            """, arguments: [session])
      else { return nil }
      let isLast = drive["sessions"] == 1
      try db.execute(sql: "DELETE FROM fence WHERE session_id = ?", arguments: [session])
      let fences = db.changesCount
      try db.execute(sql: "DELETE FROM session WHERE id = ?", arguments: [session])
      if isLast { try db.execute(sql: "DELETE FROM drive WHERE id = ?", arguments: [drive["id"] as Int64]) }
      let log = (drive["log"] as String?).map(directory.driveLog).flatMap {
        FileManager.default.fileExists(atPath: $0) ? $0 : nil
      }
      // Before the rows are gone for good: who finds the session after a power cut can forget it again, with its log.
      if let log, isLast { try Self.delete(log: log) }
      return Forgotten(
        fences: fences, deletedLog: isLast ? log : nil, keptLog: isLast ? nil : log,
        number: drive["number"], damagedStores: directory.damagedStores)
    }
    if forgotten != nil { try await store.queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    return forgotten
  }

  private static func delete(log: String) throws {
    try FileManager.default.removeItem(atPath: log)
    _ = StateDirectory.syncNames(in: URL(fileURLWithPath: log).deletingLastPathComponent().path)
  }
}
