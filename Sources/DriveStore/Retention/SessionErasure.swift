import Coverage
import Foundation
import GRDB

/// Deletes sessions, and what a recovery from drive logs would bring back.
///
/// The store notes the session first, then the log is deleted or noted in, then the rows go, with the note of the store. So a crash or
/// a failure between any two leaves either the whole session or a note that has the next start go on (``complete(noting:report:)``).
struct SessionErasure {
  let store: StoreDatabase

  /// Deletes a session with its fences as if it had never been, sent or not. Its bytes are overwritten in the database file, and
  /// the write-ahead log is emptied.
  /// - Parameter note: Notes in a drive log, which stays, that its session of that number is forgotten; durable when it returns.
  /// - Returns: `nil` when there is no such session.
  /// - Throws: ``ForgettingError``. GRDB's `DatabaseError`, `CocoaError` when the drive log cannot be deleted, and what `note` throws:
  ///   then the session is still there.
  func forget(_ session: Int64, noting note: (_ number: Int, _ log: String) throws -> Void) async throws
    -> Forgotten?
  {
    guard let target = try await beginForgetting(session) else { return nil }
    do {
      try clearLog(of: target, note)
    } catch {
      do {
        try await store.write { db in try db.execute(sql: "DELETE FROM forgetting WHERE id = ?", arguments: [session]) }
      } catch let second {
        throw ForgettingError.unfinished(session: session, reason: "\(error); \(second)")
      }
      throw error
    }
    do { return try await erase(target) } catch {
      throw ForgettingError.unfinished(session: session, reason: "\(error)")
    }
  }

  /// Completes what a crash or a failure has interrupted; to be called before anything is recovered from drive logs.
  /// - Parameter note: As for ``forget(_:noting:)``.
  /// - Parameter report: Takes the result for each session, or why it is still there; then the next start tries again.
  /// - Throws: GRDB's `DatabaseError`
  func complete(
    noting note: (_ number: Int, _ log: String) throws -> Void, report: (Result<Forgotten, ForgettingError>) -> Void
  ) async throws {
    let sessions = try await store.write { db in
      // A salvage may have kept the note of a session that is gone.
      try db.execute(sql: "DELETE FROM forgetting WHERE id NOT IN (SELECT id FROM session)")
      return try Int64.fetchAll(
        db, sql: "SELECT id FROM intact_forgetting ORDER BY id")
    }
    for session in sessions {
      do {
        guard let target = try await beginForgetting(session) else { continue }
        try clearLog(of: target, note)
        report(.success(try await erase(target)))
      } catch {
        report(.failure(error as? ForgettingError ?? .unfinished(session: session, reason: "\(error)")))
      }
    }
  }

  private struct Target: Sendable {
    let session: Int64
    /// In its drive, as in the drive log.
    let number: Int
    /// The path of the drive log, where there is one.
    let log: String?
    /// Whether it is the last session of its drive.
    let isLast: Bool
  }

  private func beginForgetting(_ session: Int64) async throws -> Target? {
    try await store.write { [directory = store.directory] db in
      guard
        let row = try Row.fetchOne(
          db,
          sql: """
            SELECT session.number, log, (SELECT count(*) FROM session WHERE drive_id = drive.id) AS sessions,
              EXISTS (SELECT 1 FROM intact_drive AS whole WHERE whole.id = drive.id)
                AND EXISTS (SELECT 1 FROM intact_session AS whole WHERE whole.id = session.id) AS is_intact
            FROM drive JOIN session ON drive_id = drive.id WHERE session.id = ?
            """, arguments: [session])
      else { return nil }
      guard row["is_intact"] else { throw ForgettingError.damaged(session: session) }
      try db.execute(sql: "INSERT OR REPLACE INTO forgetting (id) VALUES (?)", arguments: [session])
      let log = (row["log"] as String?).map(directory.driveLog).flatMap {
        FileManager.default.fileExists(atPath: $0) ? $0 : nil
      }
      return Target(session: session, number: row["number"], log: log, isLast: row["sessions"] == 1)
    }
  }

  private func clearLog(of target: Target, _ note: (_ number: Int, _ log: String) throws -> Void) throws {
    guard let log = target.log else { return }
    guard target.isLast else { return try note(target.number, log) }
    try FileManager.default.removeItem(atPath: log)
    _ = StateDirectory.syncNames(in: URL(fileURLWithPath: log).deletingLastPathComponent().path)
  }

  private func erase(_ target: Target) async throws -> Forgotten {
    let forgotten = try await store.write { [directory = store.directory] db in
      let drive = try Int64.fetchOne(db, sql: "SELECT drive_id FROM session WHERE id = ?", arguments: [target.session])
      try db.execute(sql: "DELETE FROM fence WHERE session_id = ?", arguments: [target.session])
      let fences = db.changesCount
      try db.execute(sql: "DELETE FROM session WHERE id = ?", arguments: [target.session])
      try db.execute(
        sql: "DELETE FROM drive WHERE id = ? AND id NOT IN (SELECT drive_id FROM session)", arguments: [drive])
      try db.execute(sql: "DELETE FROM forgetting WHERE id = ?", arguments: [target.session])
      return Forgotten(
        session: target.session, fences: fences, deletedLog: target.isLast ? target.log : nil,
        keptLog: target.isLast ? nil : target.log, damagedStores: directory.damagedStores)
    }
    try await store.queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    return forgotten
  }
}
