import GRDB

/// The tables, one migration a release that changes them. A migration that was released is never edited.
///
/// Times are microseconds since the Unix epoch; figures are kept as they were measured, nothing rounded.
enum Schema {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1 drives, sessions, fences", migrate: createTables)
    migrator.registerMigration("3 links and clocks of drives", migrate: addLinksAndClocks)
    return migrator
  }

  private static func addLinksAndClocks(_ db: Database) throws {
    try db.execute(
      sql: """
        -- The link that was measured, where there were several.
        ALTER TABLE drive ADD COLUMN link TEXT;
        -- Which boot of the host it was recorded in, and the time since that boot at its start: with these, wall times can be
        -- told anew once the host's clock is right.
        ALTER TABLE drive ADD COLUMN boot_id TEXT;
        ALTER TABLE drive ADD COLUMN started_boot_us INTEGER;
        """)
  }

  private static func createTables(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE registration (
          control_server TEXT NOT NULL PRIMARY KEY,
          client_uuid TEXT NOT NULL
        ) STRICT;

        CREATE TABLE drive (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          started_at INTEGER NOT NULL,
          ended_at INTEGER,
          stop_reason TEXT,
          log TEXT
        ) STRICT;

        CREATE TABLE session (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          drive_id INTEGER NOT NULL REFERENCES drive(id),
          number INTEGER NOT NULL,
          test_uuid TEXT UNIQUE,
          loop_uuid TEXT,
          started_at INTEGER NOT NULL,
          anchor_at INTEGER,
          finalized_at INTEGER,
          submitted_at INTEGER,
          -- Refused by the server for good; the reason in its words.
          quarantined_at INTEGER,
          quarantine_reason TEXT,
          UNIQUE (drive_id, number)
        ) STRICT;

        CREATE TABLE fence (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          drive_id INTEGER NOT NULL REFERENCES drive(id),
          session_id INTEGER NOT NULL REFERENCES session(id),
          number INTEGER NOT NULL,
          entered_at INTEGER NOT NULL,
          -- NULL while the fence is open; then last_seen_at says how far it is known to have lasted.
          exited_at INTEGER,
          last_seen_at INTEGER NOT NULL,
          latitude REAL NOT NULL,
          longitude REAL NOT NULL,
          accuracy_m REAL,
          altitude_m REAL,
          course_deg REAL,
          speed_mps REAL,
          radius_m REAL NOT NULL,
          technology TEXT,
          pings INTEGER NOT NULL,
          pings_ok INTEGER NOT NULL,
          rtt_sum_ns INTEGER NOT NULL,
          pings_late INTEGER NOT NULL,
          pings_duplicate INTEGER NOT NULL,
          rtt_min_ns INTEGER,
          rtt_p50_ns INTEGER,
          rtt_p95_ns INTEGER,
          rtt_max_ns INTEGER,
          ipdv_mean_ns INTEGER,
          rtt_kernel_mean_ns INTEGER,
          submittable INTEGER NOT NULL,
          submitted_at INTEGER,
          UNIQUE (drive_id, number)
        ) STRICT;

        CREATE INDEX fence_of_session ON fence(session_id, number);
        """)
  }
}
