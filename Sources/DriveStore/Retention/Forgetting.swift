import Coverage
import Foundation
import GRDB

extension DriveStore {
  /// Deletes a session with its fences as if it had never been, sent or not. Its bytes are overwritten in the database file, and
  /// the write-ahead log is emptied.
  /// - Parameter note: Notes in a drive log that stays that the session with that number in its drive is forgotten: from then on it is not
  ///   recovered from the log. The note is durable when this returns.
  /// - Returns: `nil` when there is no such session.
  /// - Throws: GRDB's `DatabaseError`; `CocoaError` when the drive log cannot be deleted, and what `note` throws: then the session is
  ///   still there.
  public func forget(
    session: Int64, note: @escaping @Sendable (_ session: Int, _ log: String) throws -> Void = { _, _ in }
  ) async throws -> Forgotten? {
    let forgotten = try await keep { [directory] db -> Forgotten? in
      guard
        let drive = try Row.fetchOne(
          db,
          sql: """
            SELECT drive.id, session.number, iif(\(RowChecksum.isIntact("drive")), log, NULL) AS log,
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
      // Before the rows are gone for good: a session that is still there after a power cut can be forgotten again.
      if let log { isLast ? try Self.delete(log: log) : try note(drive["number"], log) }
      return Forgotten(
        fences: fences, deletedLog: isLast ? log : nil, keptLog: isLast ? nil : log,
        damagedStores: directory.damagedStores)
    }
    if forgotten != nil { try await database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    return forgotten
  }

  private static func delete(log: String) throws {
    try FileManager.default.removeItem(atPath: log)
    _ = StateDirectory.syncNames(in: URL(fileURLWithPath: log).deletingLastPathComponent().path)
  }
}
