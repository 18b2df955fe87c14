import GRDB

/// A checksum in every row of the store: SQLite notices damage to its own structures, but not to the values in them.
///
/// It covers all columns, with their types and lengths. Triggers write it with the row, so that no statement can omit
/// it. A changed row gets a new checksum only if its old one was right, so that damage is never signed. CRC-64/XZ
/// finds every burst of up to 64 bits, and misses other damage once in 2⁶⁴ times. It does not protect against intent.
enum RowChecksum {
  static let column = "row_checksum"

  /// The covered columns of each table, in order.
  static let tables: [(name: String, columns: [String])] = [
    ("identity", ["id", "uuid"]),
    ("registration", ["control_server", "client_uuid", "history_cursor"]),
    ("breaker", ["control_server", "memory"]),
    ("clock", ["boot_id", "booted_at", "ruled_by", "confirmed", "memory"]),
    ("drive", ["id", "started_at", "ended_at", "stop_reason", "log", "link", "boot_id", "started_boot_us", "target"]),
    (
      "session",
      [
        "id", "drive_id", "number", "test_uuid", "loop_uuid", "started_at", "anchor_at", "finalized_at", "submitted_at",
        "quarantined_at", "quarantine_reason", "recovered_at", "client_uuid", "local_address",
        "equipment",
      ]
    ),
    (
      "batch",
      [
        "id", "session_id", "test_uuid", "anchor_at", "state", "attempt", "troubles", "sent_fences",
        "sent_at", "settled_at", "reason", "doubt", "client_uuid",
      ]
    ),
    (
      "fence",
      [
        "id", "drive_id", "session_id", "number", "entered_at", "exited_at", "last_seen_at", "latitude", "longitude",
        "accuracy_m", "altitude_m", "course_deg", "speed_mps", "radius_m", "technology", "pings", "pings_ok",
        "rtt_sum_ns", "pings_late", "pings_duplicate", "rtt_min_ns", "rtt_p50_ns", "rtt_p95_ns", "rtt_max_ns",
        "rtt_bins", "ipdv_mean_ns", "rtt_kernel_mean_ns", "submittable", "submitted_at", "batch_id",
        "recovered_at", "radio", "pings_unsent", "kept",
      ]
    ),
    ("forgetting", ["id"]),
    (
      "speed_test",
      [
        "id", "control_server", "client_uuid", "test_uuid", "test_token", "loop_uuid", "number", "drive_id", "writer",
        "started_at", "ended_at", "outcome", "state", "attempt", "troubles", "sent_at", "settled_at", "reason", "error",
        "latitude", "longitude", "technology", "figures", "qos", "qos_state",
      ]
    ),
    ("loop", ["id", "memory"]),
  ]

  static func columns(of table: String) -> [String] { tables.first { $0.name == table }?.columns ?? [] }

  /// The condition that a row is intact.
  /// - Parameters:
  ///   - table: The table.
  ///   - name: Its name in the statement, if that is different.
  static func isIntact(_ table: String, as name: String? = nil) -> String {
    "\(name ?? table).\(column) IS \(of(columns(of: table), in: name ?? table))"
  }

  /// The condition that a row is damaged.
  static func isDamaged(_ table: String) -> String { "NOT (\(isIntact(table)))" }

  /// Signs the row with this id: all its values were just written.
  static func sign(_ table: String, id: Int64, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE \(table) SET \(column) = \(of(columns(of: table), in: table)) WHERE id = ?", arguments: [id])
  }

  /// Adds the checksum column and the triggers to the new tables.
  static func install(_ db: Database) throws {
    try ChecksumFunction.register(db)
    for (table, columns) in tables {
      try db.execute(
        sql: """
          ALTER TABLE \(table) ADD COLUMN \(column) INTEGER;
          CREATE TRIGGER \(table)_inserted AFTER INSERT ON \(table) BEGIN
            UPDATE \(table) SET \(column) = \(of(columns, in: "NEW")) WHERE rowid = NEW.rowid;
          END;
          CREATE TRIGGER \(table)_updated AFTER UPDATE OF \(columns.joined(separator: ", ")) ON \(table)
          WHEN OLD.\(column) IS \(of(columns, in: "OLD")) BEGIN
            UPDATE \(table) SET \(column) = \(of(columns, in: "NEW")) WHERE rowid = NEW.rowid;
          END;
          """)
    }
  }

  private static func of(_ columns: [String], in name: String) -> String {
    "\(ChecksumFunction.name)(\(columns.map { "\(name).\($0)" }.joined(separator: ", ")))"
  }
}
