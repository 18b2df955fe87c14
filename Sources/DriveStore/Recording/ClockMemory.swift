import Coverage
import Foundation
import GRDB

/// The clocks of the present boot as the store has them; all their readings count from that boot.
public struct ClockMemory: Sendable {
  let store: StoreDatabase

  /// The clocks as they were kept in that boot; `nil` when there is nothing of it, or it is damaged.
  /// - Throws: GRDB's `DatabaseError`
  public func wallClock(ofBoot bootID: String, at boot: Duration) throws -> WallClock? {
    guard !bootID.isEmpty else { return nil }
    let memory = try store.queue.read { db in
      try String.fetchOne(
        db, sql: "SELECT memory FROM intact_clock WHERE boot_id = ?",
        arguments: [bootID])
    }
    guard let memory, let clock = try? JSONDecoder().decode(WallClock.self, from: Data(memory.utf8)) else { return nil }
    return clock.isPossible(at: boot) ? clock : nil
  }

  /// The wall times of that boot by which its drives are dated, those of the latest drives first.
  /// - Throws: GRDB's `DatabaseError`
  public func timesOfBoot(_ bootID: String) throws -> [WallTime] {
    guard !bootID.isEmpty else { return [] }
    return try store.queue.read { db in
      try Int64.fetchAll(
        db,
        sql: """
          SELECT started_at - started_boot_us FROM intact_drive
          WHERE boot_id = ? AND typeof(started_at - started_boot_us) = 'integer'
          ORDER BY id DESC LIMIT 100
          """, arguments: [bootID]
      ).map { WallTime(microseconds: $0) }
    }
  }

  /// Stores the clocks of that boot, and forgets those of others. Without a ruling, or in an unknown boot, nothing is stored.
  /// - Throws: GRDB's `DatabaseError`
  public func persist(_ clock: WallClock, ofBoot bootID: String) throws {
    guard !bootID.isEmpty, let ruling = clock.ruling else { return }
    let memory = String(decoding: try JSONEncoder().encode(clock), as: UTF8.self)
    try store.queue.write { db in
      try db.execute(sql: "DELETE FROM clock WHERE boot_id <> ?", arguments: [bootID])
      try db.execute(
        sql: "INSERT OR REPLACE INTO clock (boot_id, booted_at, ruled_by, confirmed, memory) VALUES (?, ?, ?, ?, ?)",
        arguments: [bootID, ruling.booted.microseconds, ruling.source.rawValue, ruling.isConfirmed, memory])
    }
  }
}
