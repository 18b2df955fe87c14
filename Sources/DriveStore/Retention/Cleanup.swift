import Coverage
import Foundation
import GRDB

/// Deletes what is too old to be sent, or was stored long enough.
public struct Cleanup: Sendable {
  let store: StoreDatabase
  private var directory: StateDirectory { store.directory }

  init(store: StoreDatabase) { self.store = store }

  /// Deletes what is too old, sessions without fences, drives of which nothing is left, with their logs, and what a damaged store has
  /// left behind. Never a fence of an
  /// unfinished session, nothing of the running drives, and no damaged fence: whose age is unknown, and a person may make something of it.
  /// - Parameters:
  ///   - witness: With a clock that is contradicted, nothing goes by age; with one that no other clock agrees with, only what
  ///     the server has.
  ///   - running: The first of them.
  /// - Throws: GRDB's `DatabaseError`
  public func run(
    _ retention: Retention, now: WallTime, witness: ClockWitness = .silent, except running: Int64?
  ) async throws -> Deleted {
    func longAgo(_ age: Duration) -> Int64 {
      witness == .contradicts ? .min : now.microseconds.saturatingSubtracting(age.inMicroseconds)
    }
    let (expired, kept) = (longAgo(retention.maxAge), longAgo(retention.keep))
    let (rows, drives) = try await store.write { db in
      let isAgreed = witness == .agrees
      let arguments: StatementArguments = [
        "expired": expired, "kept": kept, "agreed": isAgreed, "running": running ?? .max, "now": now.microseconds,
      ]
      var deleted = Deleted()
      deleted.kept = try FenceDeletion.delete("fence WHERE \(Self.wasStoredLongEnough)", arguments, db)
      if isAgreed {
        deleted.expired = try FenceDeletion.delete("fence WHERE \(Self.isExpired)", arguments, db)
      } else {
        deleted.doubted =
          try Int.fetchOne(
            db, sql: "SELECT count(*) FROM fence WHERE \(Self.isExpired)",
            arguments: ["expired": expired, "running": running ?? .max, "now": now.microseconds]) ?? 0
      }
      deleted.sessions = try FenceDeletion.deleteEmpty(arguments, db)
      return (deleted, try Self.emptyDrives(arguments, db))
    }
    var deleted = rows
    // What these hold was perhaps not sent, and is nowhere else.
    let loggedBefore = witness == .agrees ? kept : .min
    deleted.driveLogs = try await delete(drives, loggedBefore: loggedBefore)
    try await deleteStrays(before: loggedBefore, &deleted)
    return deleted
  }

  // MARK: Fences

  /// The condition that a fence is not damaged, and meets another one: only the checksums of fences that may go are computed.
  private static func isIntact(where condition: String) -> String {
    "id IN (SELECT id FROM intact_fence WHERE id IN (SELECT id FROM fence WHERE \(condition)))"
  }

  private static let wasStoredLongEnough = isIntact(
    where: """
      \(FenceDeletion.isAtRest) AND (submitted_at < :kept OR :agreed AND last_seen_at < :kept
        AND submitted_at IS NULL AND (NOT submittable OR \(isQuarantined)))
      """)

  private static let isExpired = isIntact(
    where: """
      \(FenceDeletion.isAtRest) AND submittable AND submitted_at IS NULL AND NOT \(isQuarantined)
        AND last_seen_at < :expired AND NOT \(wasRecoveredSince)
      """)

  /// Before its session was ended by a later process, nobody could send it: it ages from then on. A moment that is still to come
  /// was told by a clock that was wrong.
  private static let wasRecoveredSince = """
    EXISTS (SELECT 1 FROM session WHERE session.id = session_id AND recovered_at BETWEEN :expired AND :now)
    """

  private static var isQuarantined: String {
    "EXISTS (SELECT 1 FROM batch WHERE batch.id = batch_id AND state = 'quarantined')"
  }

  // MARK: What is left without fences

  /// A drive of which nothing is left but perhaps its log.
  private struct EmptyDrive {
    let id: Int64
    let ended: Int64
    let log: String?
  }

  private static func emptyDrives(_ arguments: StatementArguments, _ db: Database) throws -> [EmptyDrive] {
    try Row.fetchAll(
      db,
      sql: """
        -- A damaged end may be of any type.
        SELECT drive.id, ifnull(whole.ended_at, 0) AS ended_at, whole.log
        FROM drive LEFT JOIN intact_drive AS whole ON whole.id = drive.id
        WHERE \(isEmptyDrive) AND drive.id < :running
        """, arguments: arguments
    ).map { EmptyDrive(id: $0["id"], ended: $0["ended_at"], log: $0["log"]) }
  }

  private static let isEmptyDrive = """
    drive.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE drive_id = drive.id)
      AND NOT EXISTS (SELECT 1 FROM fence WHERE drive_id = drive.id)
    """

  /// Deletes drives, the logs first: a row without its log is found again, a log without its row is not.
  /// - Returns: How many logs went.
  private func delete(_ drives: [EmptyDrive], loggedBefore time: Int64) async throws -> Int {
    var logs = 0
    var gone: [Int64] = []
    for drive in drives {
      if let log = drive.log.map(directory.driveLog), FileManager.default.fileExists(atPath: log) {
        guard drive.ended < time, unlink(log) == 0 else { continue }
        logs += 1
      }
      gone.append(drive.id)
    }
    guard !gone.isEmpty else { return logs }
    try await store.write { [gone] db in
      for id in gone {
        try db.execute(sql: "DELETE FROM drive WHERE id = ? AND \(Self.isEmptyDrive)", arguments: [id])
      }
    }
    return logs
  }

  /// Deletes damaged stores that were set aside, and drive logs that no drive names, from before `time`.
  private func deleteStrays(before time: Int64, _ deleted: inout Deleted) async throws {
    let damaged = directory.damagedStores
    let named = try await store.read { [directory] in try NamedLogs.all(in: directory, $0) }
    for file in damaged + directory.straysAmongLogs(named) {
      guard let modified = StateDirectory.modified(file), modified < time else { continue }
      guard unlink(file) == 0 else { continue }
      if damaged.contains(file) { deleted.damagedStores += 1 } else { deleted.driveLogs += 1 }
    }
  }
}
