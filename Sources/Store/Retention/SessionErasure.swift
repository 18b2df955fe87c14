import Coverage
import Foundation
import GRDB

/// Deletes sessions, including the data from which a recovery from drive logs would restore them.
///
/// First the store notes the session; then the log is deleted, or gets a note; then the rows are deleted together
/// with the store's note. A crash or a failure between any two steps leaves the whole session, or a note with which
/// the next start continues (``complete(report:)``).
struct SessionErasure {
  let store: StoreDatabase

  /// ``DriveStore/forget(session:noting:)``
  func forget(
    _ session: Int64, noting note: (_ number: Int, _ log: String) throws -> Void
  ) async throws -> Forgotten? {
    guard let target = try await beginForgetting(session) else { return nil }
    do {
      try clearLog(of: target, note)
    } catch {
      do {
        try await store.execute("DELETE FROM forgetting WHERE id = ?", [session])
      } catch let second {
        throw ForgettingError.unfinished(
          session: session, reason: "\(StoreError.line(error)); \(StoreError.line(second))")
      }
      throw error
    }
    do { return try await erase(target) } catch {
      throw ForgettingError.unfinished(session: session, reason: StoreError.line(error))
    }
  }

  /// Completes deletions that a crash or a failure interrupted. Must be called before any recovery from drive logs.
  /// - Parameter report: Receives the result for each session, or the reason why it still exists; then the next start tries again.
  func complete(report: (Result<Forgotten, ForgettingError>) -> Void) async throws {
    let sessions = try await store.write { db in
      // A salvage can restore the note of a session that is gone.
      try db.execute(sql: "DELETE FROM forgetting WHERE id NOT IN (SELECT id FROM session)")
      return try Int64.fetchAll(db, sql: "SELECT id FROM intact_forgetting ORDER BY id")
    }
    for session in sessions {
      do {
        guard let target = try await beginForgetting(session) else { continue }
        try clearLog(of: target, DriveLogWriter.noteForgotten)
        report(.success(try await erase(target)))
      } catch {
        report(.failure(error as? ForgettingError ?? .unfinished(session: session, reason: StoreError.line(error))))
      }
    }
  }

  /// The session to delete, with the data that deleting needs.
  private struct Target: Sendable {
    let session: Int64
    /// Its number in its drive, as in the drive log.
    let number: Int
    /// The path of the drive log; `nil` without one.
    let log: String?
    /// Whether it is the last session of its drive; never while the log may have others that the store has lost.
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
      return Target(
        session: session, number: row["number"], log: (row["log"] as String?).flatMap(directory.presentDriveLog),
        isLast: row["sessions"] == 1 && RecoveryMark(directory).need == .none)
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
