import Coverage
import Foundation
import GRDB

/// Deletes data by its age.
public struct AgeDeletion: Sendable {
  let store: StoreDatabase
  private var directory: StateDirectory { store.directory }

  /// Deletes unsent fences that are too old to be sent, and fences that were stored long enough; sessions without
  /// fences; drives without sessions, with their logs; and the remains of damaged stores. Does not touch unfinished
  /// sessions or running drives. Keeps damaged fences: their age is unknown and they may be recoverable.
  /// - Parameters:
  ///   - retention: The ages.
  ///   - now: The selected wall time.
  ///   - agreement: `.contradicts`: nothing is deleted by age. `.silent`: only data that the server has. `.agrees`: all
  ///     that is old.
  ///   - running: The lowest id of the running drives; `nil` for none.
  /// - Throws: GRDB's `DatabaseError`
  public func run(
    _ retention: Retention, now: WallTime, agreement: ClockAgreement = .silent, except running: Int64?
  ) async throws -> Deleted {
    func longAgo(_ age: Duration) -> Int64 {
      agreement == .contradicts ? .min : now.microseconds.saturatingSubtracting(age.inMicroseconds)
    }
    let isAgreed = agreement == .agrees
    if isAgreed { try await redate(now) }
    let arguments: StatementArguments = [
      "expired": longAgo(retention.maxAge), "kept": longAgo(retention.keep), "agreed": isAgreed,
      "running": running ?? .max, "now": now.microseconds, "trusted": WallTime.earliestTrusted.microseconds,
    ]
    var deleted = try await deleteFences(arguments, isAgreed: isAgreed)
    let (sessions, drives) = try await store.write { db in
      (try FenceDeletion.deleteEmpty(arguments, db), try Self.emptyDrives(arguments, db))
    }
    deleted.sessions = sessions
    deleted.speedTests = try await deleteSpeedTests(arguments)
    // These logs may contain unsent fences that exist nowhere else, and a recovery that is due may still need every log.
    let mayDelete = isAgreed && RecoveryMark(directory).need == .none
    let loggedBefore = mayDelete ? longAgo(retention.keep) : .min
    deleted.driveLogs = try await delete(drives, loggedBefore: loggedBefore, now: now)
    if mayDelete { try await deleteStrays(before: loggedBefore, now: now, &deleted) }
    return deleted
  }

  // MARK: Impossible times

  /// Stands for the time of a recovery until two clocks agree on the present time.
  static let notDated: Int64 = 0

  /// Gives recoveries and quarantines the present time if theirs is impossible or in the future: ages count from it, and it came from one
  /// clock alone.
  private func redate(_ now: WallTime) async throws {
    let times = [("session", "TRUE", "recovered_at"), ("batch", "state = 'quarantined'", "settled_at")]
    let arguments: StatementArguments = ["now": now.microseconds, "trusted": WallTime.earliestTrusted.microseconds]
    for (table, isConcerned, column) in times {
      let isImpossible = "\(isConcerned) AND (\(column) < :trusted OR \(column) > :now)"
      let isNeeded = try await store.read { try $0.has("\(table) WHERE \(isImpossible)", arguments) }
      guard isNeeded else { continue }
      try await store.execute(
        """
        UPDATE \(table) SET \(column) = :now
          WHERE \(isImpossible) AND EXISTS (SELECT 1 FROM intact_\(table) AS whole WHERE whole.id = \(table).id)
        """, arguments)
    }
  }

  /// When `file` was last written. One with an impossible time, or one in the future, counts as written now.
  private func written(_ file: String, _ now: WallTime) -> Int64? {
    guard let modified = StateDirectory.modified(file) else { return nil }
    guard modified >= WallTime.earliestTrusted.microseconds, modified <= now.microseconds else {
      StateDirectory.setModified(file, to: now)
      return now.microseconds
    }
    return modified
  }

  // MARK: Fences

  /// The fences of a slice: limits the wait of a drive's write, and of a status request.
  private static let fencesAtOnce = 2000

  /// Looks for old fences beside the writer, session by session and slice by slice. Only slices that have some are
  /// written, and there the ages are compared again: a pass meets few old fences, and a store has many.
  private func deleteFences(_ arguments: StatementArguments, isAgreed: Bool) async throws -> Deleted {
    var deleted = Deleted()
    for session in try await sessionsWithOldFences(arguments) {
      var last = Int64.min
      while let slice = try await slice(of: session, after: last, arguments) {
        last = slice.last
        guard slice.hasOldFences else { continue }
        let ofSlice = try await delete(
          arguments + ["session": session, "first": slice.first, "last": slice.last], isAgreed: isAgreed)
        deleted.sentLongAgo += ofSlice.sentLongAgo
        deleted.expired += ofSlice.expired
        deleted.doubted += ofSlice.doubted
      }
    }
    return deleted
  }

  /// The sessions that may have old fences: those that began long ago, or whose first fence did; those sent long ago, whenever they began by a
  /// wrong clock; and those whose age is unknown, because they are damaged or missing. Costs a step or two for each session.
  private func sessionsWithOldFences(_ arguments: StatementArguments) async throws -> [Int64] {
    try await store.read { db in
      try Int64.fetchAll(
        db,
        sql: """
          SELECT named.id FROM session_of_fences AS named LEFT JOIN intact_session AS session ON session.id = named.id
          WHERE session.id IS NULL OR \(Self.beginning) < :kept OR session.submitted_at < :kept
            OR EXISTS (SELECT 1 FROM batch WHERE batch.session_id = session.id AND state = 'submitted' AND settled_at < :kept)
          UNION SELECT named.id FROM session_of_unsent_fences AS named JOIN intact_session AS session ON session.id = named.id
            WHERE \(Self.beginning) < :expired
          """, arguments: arguments)
    }
  }

  /// Fences are numbered in the order of their times.
  private static let beginning = """
    min(session.started_at, ifnull(
      (SELECT last_seen_at FROM fence WHERE fence.session_id = session.id ORDER BY number LIMIT 1), session.started_at))
    """

  /// - Returns: A range of ids; `nil` when no fence of the session follows `last`.
  private func slice(
    of session: Int64, after last: Int64, _ arguments: StatementArguments
  ) async throws -> (first: Int64, last: Int64, hasOldFences: Bool)? {
    try await store.read { db in
      let range = try Row.fetchOne(
        db,
        sql: """
          SELECT min(id) AS first, max(id) AS last FROM (
            SELECT id FROM fence WHERE session_id = ? AND id > ? ORDER BY id LIMIT \(Self.fencesAtOnce))
          """, arguments: [session, last])
      guard let range, let first = range["first"] as Int64?, let end = range["last"] as Int64? else { return nil }
      let hasOldFences = try db.has(
        "fence WHERE \(Self.isOfSlice) AND (\(Self.isKeptLongEnough) OR \(Self.isExpired))",
        arguments + ["session": session, "first": first, "last": end])
      return (first, end, hasOldFences)
    }
  }

  private func delete(_ arguments: StatementArguments, isAgreed: Bool) async throws -> Deleted {
    try await store.write { db in
      var deleted = Deleted()
      deleted.sentLongAgo = try Self.delete(where: Self.isKeptLongEnough, arguments, db)
      if isAgreed {
        deleted.expired = try Self.delete(where: Self.isExpired, arguments, db)
      } else {
        deleted.doubted =
          try Int.fetchOne(
            db, sql: "SELECT count(*) FROM intact_fence AS fence WHERE \(Self.isOfSlice) AND \(Self.isExpired)",
            arguments: arguments) ?? 0
      }
      return deleted
    }
  }

  private static func delete(where condition: String, _ arguments: StatementArguments, _ db: Database) throws -> Int {
    try FenceDeletion.delete(
      where: "id IN (SELECT id FROM intact_fence AS fence WHERE \(isOfSlice) AND \(condition))", arguments, db)
  }

  private static let isOfSlice = "fence.session_id = :session AND fence.id BETWEEN :first AND :last"

  /// The condition that a fence was stored long enough. A refused one is kept as long after its refusal: its own time can be unknown.
  private static let isKeptLongEnough = """
    (\(FenceDeletion.isAtRest) AND (submitted_at < :kept OR :agreed AND last_seen_at < :kept
      AND submitted_at IS NULL
      AND (NOT submittable AND last_seen_at >= :trusted OR \(isQuarantined) AND NOT \(wasQuarantinedSince))))
    """

  /// The condition that a fence is too old to be sent. The age of a fence dated before ``WallTime/earliestTrusted`` is unknown, and the server
  /// may have one whose answer was lost: the history decides first.
  private static let isExpired = """
    (\(FenceDeletion.isAtRest) AND submittable AND submitted_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM batch WHERE batch.id = batch_id AND state IN ('quarantined', 'sending'))
      AND last_seen_at < :expired AND last_seen_at >= :trusted AND NOT \(wasRecoveredSince))
    """

  /// Before a later process ended its session, the fence could not be sent: its age counts from then on.
  private static let wasRecoveredSince = """
    EXISTS (SELECT 1 FROM session WHERE session.id = session_id
      AND (recovered_at < :trusted OR recovered_at BETWEEN :expired AND :now))
    """

  private static let wasQuarantinedSince = """
    EXISTS (SELECT 1 FROM batch WHERE batch.id = batch_id AND settled_at BETWEEN :kept AND :now)
    """

  private static var isQuarantined: String {
    "EXISTS (SELECT 1 FROM batch WHERE batch.id = batch_id AND state = 'quarantined')"
  }

  // MARK: Speed tests

  /// The state of the last report of a test: that of its QoS tests where the server has the result.
  private static let reportState = "iif(state = 'submitted', ifnull(qos_state, 'submitted'), state)"

  /// The condition that the server has all of a test.
  static let isSubmittedSpeedTest = "\(reportState) = 'submitted'"

  /// Deletes tests that the server has, by the same ages as fences; and, if two clocks agree, refused ones and those too old to be sent.
  /// A test outside of a drive is not dated again when its clock was wrong by days, so unsent ones stay as long as refused ones, too.
  private func deleteSpeedTests(_ arguments: StatementArguments) async throws -> Int {
    try await store.write { [copies = store.copies] db in
      let ids = try Int64.fetchAll(
        db,
        sql: """
          SELECT id FROM intact_speed_test WHERE \(Self.isSubmittedSpeedTest) AND settled_at < :kept
            OR :agreed AND (\(Self.reportState) = 'quarantined' AND max(ended_at, ifnull(settled_at, 0)) < :kept
              OR \(Self.reportState) IN ('waiting', 'sending') AND ended_at < min(:expired, :kept) AND ended_at >= :trusted)
          """, arguments: arguments)
      try copies.delete(speedTests: ids, db)
      return ids.count
    }
  }

  // MARK: Empty drives, stray logs

  /// A drive without sessions and fences, possibly with a log.
  private typealias EmptyDrive = (id: Int64, ended: Int64, log: String?)

  private static func emptyDrives(_ arguments: StatementArguments, _ db: Database) throws -> [EmptyDrive] {
    try Row.fetchAll(
      db,
      sql: """
        -- A damaged end may be of any type.
        SELECT drive.id, ifnull(whole.ended_at, 0) AS ended_at, whole.log
        FROM drive LEFT JOIN intact_drive AS whole ON whole.id = drive.id
        WHERE \(isEmptyDrive) AND drive.id < :running
        """, arguments: arguments
    ).map { ($0["id"], $0["ended_at"], $0["log"]) }
  }

  private static let isEmptyDrive = """
    drive.ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE drive_id = drive.id)
      AND NOT EXISTS (SELECT 1 FROM fence WHERE drive_id = drive.id)
    """

  /// Deletes drives, each log before its row: a row without a log is found again, a log without a row is not.
  /// - Returns: The number of deleted logs.
  private func delete(_ drives: [EmptyDrive], loggedBefore time: Int64, now: WallTime) async throws -> Int {
    var logs = 0
    var gone: [Int64] = []
    for drive in drives {
      if let log = drive.log.map(directory.driveLog), FileManager.default.fileExists(atPath: log) {
        let isTimed = drive.ended >= WallTime.earliestTrusted.microseconds
        guard (isTimed ? drive.ended : written(log, now) ?? .max) < time, unlink(log) == 0 else { continue }
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

  /// Deletes damaged stores that were set aside, and drive logs that no drive names, if they were written before `time`.
  private func deleteStrays(before time: Int64, now: WallTime, _ deleted: inout Deleted) async throws {
    let damaged = directory.damagedStores
    let named = try await store.read { [directory] in try NamedLogs.all(in: directory, $0) }
    for file in damaged + directory.straysAmongLogs(named) {
      guard let written = written(file, now), written < time, unlink(file) == 0 else { continue }
      if damaged.contains(file) { deleted.damagedStores += 1 } else { deleted.driveLogs += 1 }
    }
  }
}
