import Coverage
import GRDB

/// Fences without their session or drive: the row is missing (after a salvage or an import) or damaged.
public struct Orphans: Sendable {
  let store: StoreDatabase

  /// Gives such fences a new session and drive without a test, so that they can be sent. Of a damaged row only the id
  /// is used; the fences and their batches decide what was sent.
  /// - Parameters:
  ///   - time: If a session is missing and one of its fences was seen later than this, its fences wait. If the
  ///   session's row is damaged they need not wait, because their drive is over.
  ///   - future: If a fence was seen later than this, its time came from a wrong clock, and its session does not wait either.
  ///   - running: The lowest id of the running drives, which stay unchanged.
  /// - Returns: The number of fences that can be sent or exported again.
  /// - Throws: GRDB's `DatabaseError`
  public func adopt(lastSeenBefore time: WallTime, orAfter future: WallTime? = nil, except running: Int64? = nil)
    async throws -> Int
  {
    let isAny = try await store.read { db in
      try db.has("drive WHERE \(RowChecksum.isDamaged("drive"))")
        || db.has("session_of_fences WHERE id NOT IN (SELECT id FROM intact_session)")
    }
    // Mostly there is none: a drive must not wait for that.
    guard isAny else { return 0 }
    return try await store.write { db in
      let ofDrives = try Self.mendDrives(except: running, db)
      return ofDrives
        + (try Self.adopt(
          withoutRowIn: "intact_session", except: running,
          if: "seen < ? OR seen > ? OR session_id IN (SELECT id FROM session)",
          [time.microseconds, future?.microseconds ?? .max], db))
    }
  }

  /// Gives the fences whose session's row is missing a new one, before they are put into batches.
  static func adoptMissing(except running: Int64?, _ db: Database) throws {
    _ = try adopt(withoutRowIn: "session", except: running, if: "TRUE", [], db)
  }

  /// - Returns: The number of fences.
  private static func adopt(
    withoutRowIn sessions: String, except running: Int64?, if condition: String, _ arguments: StatementArguments,
    _ db: Database
  ) throws -> Int {
    let orphans = try Row.fetchAll(
      db,
      sql: """
        SELECT session_id AS session, drive_id AS drive, min(entered_at) AS entered, max(last_seen_at) AS seen,
          count(*) AS fences FROM intact_fence
        WHERE session_id IN (SELECT id FROM session_of_fences WHERE id NOT IN (SELECT id FROM \(sessions)))
          AND drive_id < ?
        GROUP BY session_id HAVING \(condition)
        """, arguments: [running ?? .max] + arguments)
    for orphan in orphans { try adopt(orphan, db) }
    return orphans.reduce(0) { $0 + ($1["fences"] as Int) }
  }

  /// Repairs damaged rows of drives from the fences of the drives.
  /// - Returns: How many fences of intact sessions became readable.
  private static func mendDrives(except running: Int64?, _ db: Database) throws -> Int {
    let drives = try Row.fetchAll(
      db,
      sql: """
        SELECT drive_id AS drive, min(entered_at) AS entered, max(last_seen_at) AS seen,
          count(*) FILTER (WHERE session_id IN (SELECT id FROM intact_session)) AS fences
        FROM intact_fence
        WHERE drive_id IN (SELECT id FROM drive WHERE \(RowChecksum.isDamaged("drive"))) AND drive_id < ?
        GROUP BY drive_id
        """, arguments: [running ?? .max])
    for row in drives {
      let drive: Int64 = row["drive"]
      try db.execute(
        sql: """
          UPDATE drive SET started_at = ?, ended_at = ?, stop_reason = 'interrupted', log = NULL, link = NULL,
            boot_id = NULL, started_boot_us = NULL WHERE id = ?
          """, arguments: [row["entered"] as Int64, row["seen"] as Int64, drive])
      try RowChecksum.sign("drive", id: drive, db)
    }
    return drives.reduce(0) { $0 + ($1["fences"] as Int) }
  }

  private static func adopt(_ orphan: Row, _ db: Database) throws {
    let session: Int64 = orphan["session"]
    let drive: Int64 = orphan["drive"]
    let seen: Int64 = orphan["seen"]
    // Their drive may be missing too.
    try db.execute(
      sql: "INSERT OR IGNORE INTO drive (id, started_at, ended_at, stop_reason) VALUES (?, ?, ?, 'interrupted')",
      arguments: [drive, orphan["entered"] as Int64, seen])
    // An upsert, because a replacement would delete the row and with it its batches.
    try db.execute(
      sql: """
        INSERT INTO session (id, drive_id, number, started_at, finalized_at)
          -- The number of a damaged row may be anything.
          SELECT :session, :drive, coalesce(max(number), -1) + 1, :entered, :seen FROM session
          WHERE drive_id = :drive AND id <> :session AND number < 1 << 31
        ON CONFLICT (id) DO UPDATE SET drive_id = excluded.drive_id, number = excluded.number, test_uuid = NULL,
          client_uuid = NULL, loop_uuid = NULL, started_at = excluded.started_at, anchor_at = NULL, finalized_at = excluded.finalized_at,
          local_address = NULL, equipment = NULL
        """,
      arguments: ["session": session, "drive": drive, "entered": orphan["entered"] as Int64, "seen": seen])
    try RowChecksum.sign("session", id: session, db)
    try db.execute(
      sql: "UPDATE fence SET exited_at = last_seen_at WHERE exited_at IS NULL AND session_id = ?",
      arguments: [session])
    // Some of its fences may be sent or refused.
    try BatchTable.summarise(session: session, at: WallTime(microseconds: seen), db)
  }
}
