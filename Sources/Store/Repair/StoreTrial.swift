import GRDB

/// Runs a start and a first fence in a transaction that it rolls back: a large store is checked completely only later.
enum StoreTrial {
  /// Reads the small tables, and writes a drive with a fence without committing it: into the pages that the next
  /// drive writes to.
  /// - Throws: `DatabaseError` for damage.
  static func run(_ database: DatabaseQueue) throws {
    try database.read { db in
      for (table, _) in RowChecksum.tables where table != "fence" {
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(RowChecksum.isDamaged(table))")
      }
    }
    try database.writeWithoutTransaction { db in
      try db.inTransaction(.immediate) {
        try db.execute(
          sql: """
            INSERT INTO drive (started_at) VALUES (0);
            INSERT INTO session (drive_id, number, started_at) SELECT max(id), 0, 0 FROM drive;
            INSERT INTO fence (drive_id, session_id, number, entered_at, last_seen_at, latitude, longitude, radius_m, pings,
              pings_ok, rtt_sum_ns, pings_late, pings_duplicate, submittable)
              SELECT drive_id, id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM session ORDER BY id DESC LIMIT 1;
            """)
        return .rollback
      }
    }
  }
}
