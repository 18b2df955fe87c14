import Coverage
import Foundation
import GRDB

/// Deletes sent data, and files that may be deleted, for the quota or on a full disk.
public struct StoreSpace: Sendable {
  let store: StoreDatabase
  private var directory: StateDirectory { store.directory }

  /// The number of repetitions, because the size of a fence can only be estimated.
  private static let rounds = 8
  /// Fences deleted in one transaction: limits the wait of a drive's write, and the size of the write-ahead log.
  private static let fencesAtOnce = 2000
  /// Bytes deleted beyond the excess, so that not every pass finds a small excess again.
  private static let reserve: Int64 = 64 << 10
  private static let pagesAtOnce = 1000

  /// Runs a ``QuotaPlan`` when the directory exceeds `quota`.
  ///
  /// Fences are deleted in transactions and logs one by one, so an interruption at any point leaves a consistent
  /// state.
  /// - Parameters:
  ///   - quota: The limits.
  ///   - running: The lowest id of the running drives, which stay unchanged; `nil` for none.
  /// - Throws: GRDB's `DatabaseError`
  public func keepWithin(_ quota: Quota, except running: Int64?) async throws -> Dropped {
    guard try await exceeds(quota) else { return Dropped() }
    return try await measured {
      try await giveBackPages()
      return try await drop(to: quota, except: running)
    }
  }

  private func exceeds(_ quota: Quota) async throws -> Bool {
    if directory.bytes > quota.bytes { return true }
    return try await store.read { db in
      // No store has more fences than ids. Counting them reads all of an index.
      let most = try Int.fetchOne(
        db, sql: "SELECT ifnull((SELECT max(id) FROM fence) - (SELECT min(id) FROM fence) + 1, 0)")
      guard most ?? 0 > quota.fences else { return false }
      return try Int.fetchOne(db, sql: "SELECT count(*) FROM fence") ?? 0 > quota.fences
    }
  }

  /// Deletes the same data on a full disk, until the disk has room for the ``ReserveFile`` and for writes meanwhile.
  /// - Throws: GRDB's `DatabaseError`
  public func makeRoom(except running: Int64?) async throws -> Dropped {
    try await measured {
      guard let room = directory.room, room < ReserveFile.room else { return Dropped() }
      // If nothing can be deleted, the file stays unchanged: its write-ahead log has space on the disk that other
      // programs would use.
      let bytes = try await holdings(except: running).bytes
      return try await drop(to: Quota(bytes: bytes - (ReserveFile.room - room), fences: .max), except: running)
    }
  }

  private func measured(_ body: () async throws -> Dropped) async throws -> Dropped {
    let before = directory.bytes
    var dropped = try await body()
    dropped.bytes = before - directory.bytes
    return dropped
  }

  private func drop(to quota: Quota, except running: Int64?) async throws -> Dropped {
    let goal = Quota(bytes: quota.bytes - Self.reserve, fences: quota.fences)
    var dropped = Dropped()
    for _ in 0..<Self.rounds {
      var holdings = try await holdings(except: running)
      guard holdings.bytes > quota.bytes || holdings.fences > quota.fences else { break }
      var plan = QuotaPlan(holdings, quota: goal)
      let speedTests = try await drop(speedTests: plan.speedTests)
      let fences = try await dropFences(plan.fences, except: running)
      if fences < plan.fences {
        // Damaged fences stay. On a full disk there may be no space for deleting rows; deleting files needs none.
        holdings.submitted = fences
        plan = QuotaPlan(holdings, quota: goal)
      }
      let gone = plan.files.filter { unlink($0.path) == 0 }
      let logs = gone.count { $0.path.hasPrefix(directory.driveLogs) }
      let rest = QuotaPlan(holdings, quota: quota)
      (dropped.bytesOver, dropped.fencesOver) = (rest.bytesOver, rest.fencesOver)
      guard speedTests + fences + gone.count > 0 else { break }
      dropped.speedTests += speedTests
      dropped.fences += fences
      dropped.driveLogs += logs
      dropped.damagedStores += gone.count - logs
      try await giveBackPages()
    }
    return dropped
  }

  private func drop(speedTests ids: [Int64]) async throws -> Int {
    guard !ids.isEmpty else { return 0 }
    return try await unlessFull(otherwise: 0) { [copies = store.copies] db in
      try copies.delete(speedTests: ids, db)
      return ids.count
    }
  }

  private func dropFences(_ count: Int, except running: Int64?) async throws -> Int {
    var dropped = 0
    while dropped < count {
      let piece = min(count - dropped, Self.fencesAtOnce)
      let gone = try await unlessFull(otherwise: 0) { db in
        let arguments: StatementArguments = ["piece": piece, "running": running ?? .max, "expired": Int64.min]
        let gone = try FenceDeletion.delete(
          where: """
            id IN (SELECT id FROM intact_fence WHERE \(FenceDeletion.isAtRest) AND (submitted_at IS NOT NULL OR kept)
              ORDER BY id LIMIT :piece)
            """, arguments, db)
        _ = try FenceDeletion.deleteEmpty(arguments, db)
        return gone
      }
      guard gone > 0 else { break }
      dropped += gone
    }
    return dropped
  }

  private func unlessFull<Result: Sendable>(
    otherwise nothing: Result, _ updates: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    do { return try await store.write(updates) } catch let error where StoreError.isDiskFull(error) { return nothing }
  }

  // MARK: Measuring the directory

  private func holdings(except running: Int64?) async throws -> Holdings {
    let files = directory.files
    return try await store.read { [directory, copies = store.copies] db in
      func number(_ sql: String) throws -> Int64 {
        try Int64.fetchOne(db, sql: sql, arguments: sql.contains(":running") ? ["running": running ?? .max] : []) ?? 0
      }
      let pages = try number("PRAGMA page_count") - number("PRAGMA freelist_count")
      var holdings = Holdings()
      holdings.store = try pages * number("PRAGMA page_size")
      holdings.fences = Int(try number("SELECT count(*) FROM fence"))
      holdings.submitted = Int(
        try number(
          "SELECT count(*) FROM fence WHERE (submitted_at IS NOT NULL OR kept) AND drive_id < :running"))
      holdings.speedTests = try Row.fetchAll(
        db,
        sql: """
          SELECT id, ifnull(length(CAST(figures AS BLOB)), 0) + ifnull(length(CAST(qos AS BLOB)), 0) AS bytes FROM intact_speed_test
          WHERE \(AgeDeletion.isSubmittedSpeedTest) ORDER BY settled_at, id
          """
      ).map { row in
        let id: Int64 = row["id"]
        return Holdings.SpeedTest(id: id, bytes: row["bytes"], copied: files[copies.path(.speedTest, id)] ?? 0)
      }
      // A recovery that is due may still need every log.
      let logs =
        RecoveryMark(directory).need > .none
        ? []
        : try Self.logsThatMayGo(except: running, db).map(directory.driveLog)
          + directory.oldStraysAmongLogs(NamedLogs.all(in: directory, db))
      let order = directory.formerDamagedStores + logs
      holdings.files = order.compactMap { path in files[path].map { Holdings.File(path: path, bytes: $0) } }
      let known = Set([directory.database, directory.database + "-wal"] + holdings.files.map(\.path))
      holdings.other = files.filter { !known.contains($0.key) }.values.reduce(0) { $0.saturatingAdding($1) }
      return holdings
    }
  }

  /// The logs of ended drives that are completely sent. A damaged fence may be unsent, so its log stays.
  private static func logsThatMayGo(except running: Int64?, _ db: Database) throws -> [String] {
    try String.fetchAll(
      db,
      sql: """
        SELECT log FROM intact_drive AS drive
        WHERE log IS NOT NULL AND ended_at IS NOT NULL AND id < ?
          AND NOT EXISTS (
            SELECT 1 FROM fence WHERE drive_id = drive.id AND submittable AND submitted_at IS NULL)
          AND NOT EXISTS (SELECT 1 FROM fence WHERE \(RowChecksum.isDamaged("fence")) AND drive_id = drive.id)
        ORDER BY id
        """, arguments: [running ?? .max])
  }

  // MARK: The file

  /// Shrinks the store's file to its content. If that is impossible now, the next call does it.
  private func giveBackPages() async throws {
    do {
      while try await store.queue.writeWithoutTransaction(Self.giveBackSomePages) {}
      try await store.queue.writeWithoutTransaction(Self.emptyWriteAheadLog)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY || StoreError.isDiskFull(error) {
      // Another process is reading, or the disk is full. Later writes use the free pages.
    }
  }

  /// Does not wait for readers, because a running drive would have to wait too.
  private static func emptyWriteAheadLog(_ db: Database) throws {
    let patience = try Int.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
    try db.execute(sql: "PRAGMA busy_timeout = 0")
    defer { try? db.execute(sql: "PRAGMA busy_timeout = \(patience)") }
    _ = try db.checkpoint(.truncate)
  }

  /// - Returns: Whether there may be more free pages.
  private static func giveBackSomePages(_ db: Database) throws -> Bool {
    func number(_ name: String) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA \(name)") ?? 0 }
    let before = try number("freelist_count")
    guard before > 0 else { return false }
    try db.execute(sql: "PRAGMA incremental_vacuum(\(pagesAtOnce))")
    return try number("freelist_count") < before
  }
}

/// The counts of a deletion for the quota, or on a full disk.
public struct Dropped: Hashable, Sendable {
  /// Fences that the server has, and kept ones, which it never gets.
  public internal(set) var fences = 0
  /// Speed tests that the server has.
  public internal(set) var speedTests = 0
  /// Drive logs, of completely sent drives or of no drive.
  public internal(set) var driveLogs = 0
  /// Files of damaged stores that were set aside.
  public internal(set) var damagedStores = 0
  /// By how many bytes the directory has shrunk.
  public internal(set) var bytes: Int64 = 0
  /// Bytes above the quota that cannot be deleted.
  public internal(set) var bytesOver: Int64 = 0
  /// Fences above the quota that cannot be deleted.
  public internal(set) var fencesOver = 0

  /// Whether nothing was deleted.
  public var isNothing: Bool { fences + speedTests + driveLogs + damagedStores == 0 }
  /// Whether the directory is within its quota now.
  public var isEnough: Bool { bytesOver == 0 && fencesOver == 0 }
}
