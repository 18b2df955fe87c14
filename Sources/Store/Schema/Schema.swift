import Foundation
import GRDB

/// The tables; each release that changes them adds a migration. A released migration is never edited, not even its comments: those inside
/// a CREATE statement are stored with it, and ``check(_:)`` compares them.
///
/// Times are microseconds since the Unix epoch; figures are stored as measured, without rounding.
enum Schema {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("0.1.0") { db in
      try createMeasurements(db)
      try createSpeedTests(db)
      try createServersAndClocks(db)
      try RowChecksum.install(db)
      try UnsentCounts.install(db)
      try makeIdentity(db)
    }
    return migrator
  }

  /// Reads the list of applied migrations before GRDB does, which reports a value that is no text as a mistake of the program and not as damage.
  /// - Throws: GRDB's `DatabaseError`, also for such a value.
  static func checkMigrationList(_ db: Database) throws {
    guard try db.tableExists("grdb_migrations") else { return }
    let rows = try Row.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations")
    guard rows.allSatisfy({ String.fromDatabaseValue($0[0]) != nil }) else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its list of migrations is damaged")
    }
  }

  /// Compares the tables, indices and triggers with those of a new store: a flipped bit in a definition damages no
  /// page.
  static func check(_ db: Database) throws {
    guard try definitions(db) == ofNewStore ?? newDefinitions() else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its tables are not as they were made")
    }
  }

  /// Made once: a repair opens the store several times. `nil` after a failure, as without memory; then the next check tries again.
  private static let ofNewStore = try? newDefinitions()

  private static func newDefinitions() throws -> Set<[String?]> {
    let new = try DatabaseQueue()
    try migrator.migrate(new)
    return try new.read(definitions)
  }

  private static func definitions(_ db: Database) throws -> Set<[String?]> {
    let rows = try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master")
    return Set(rows.map { row in (0..<4).map { String.fromDatabaseValue(row[$0]) } })
  }

  /// Writes a new identity of the store.
  static func makeIdentity(_ db: Database) throws {
    try db.execute(
      sql: "INSERT OR REPLACE INTO identity (id, uuid) VALUES (1, ?)", arguments: [UUID().uuidString.lowercased()])
  }

  private static func createMeasurements(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE drive (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          started_at INTEGER NOT NULL,
          ended_at INTEGER,
          stop_reason TEXT,
          log TEXT,
          -- The link that was measured, where there were several.
          link TEXT,
          -- Which boot of the host it was recorded in, and the time since that boot at its start: with these, wall times can be
          -- computed again once the host's clock is right.
          boot_id TEXT,
          started_boot_us INTEGER,
          -- The user's own target of its pings: then it is kept here, and never submitted.
          target TEXT
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
          -- When a later process ended the session. Its fences could not be sent before: their age counts from then.
          recovered_at INTEGER,
          -- The client UUID that asked for the session's test.
          client_uuid TEXT,
          -- The address of this host from which the pings of the session left.
          local_address TEXT,
          -- The modem, the SIM and the connection that it was measured with, as JSON (ModemEquipment).
          equipment TEXT,
          UNIQUE (drive_id, number)
        ) STRICT;

        -- What goes to the control server in one request: fences of one session, for one test.
        CREATE TABLE batch (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          session_id INTEGER NOT NULL REFERENCES session(id) ON DELETE CASCADE,
          test_uuid TEXT UNIQUE,
          anchor_at INTEGER,
          -- sending: it may have left, and what came of it is not known. replaced: its fences are in other batches now.
          state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'submitted', 'quarantined', 'replaced')),
          attempt INTEGER NOT NULL DEFAULT 0,
          -- Answers of a server in trouble, which said nothing about it.
          troubles INTEGER NOT NULL DEFAULT 0,
          -- How many fences were in the body that was sent last.
          sent_fences INTEGER,
          sent_at INTEGER,
          settled_at INTEGER,
          -- Why it was refused, in the server's words.
          reason TEXT,
          -- How long the request of sent_at may be under way, by the time since the boot, as JSON (Doubt).
          doubt TEXT,
          -- The client UUID that requested the test, or sent to it first: its history has the batch if it arrived.
          client_uuid TEXT
        ) STRICT;
        CREATE INDEX batch_of_session ON batch(session_id);

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
          -- All round-trip times, in bins (DelayBins).
          rtt_bins TEXT,
          ipdv_mean_ns INTEGER,
          rtt_kernel_mean_ns INTEGER,
          submittable INTEGER NOT NULL,
          submitted_at INTEGER,
          batch_id INTEGER REFERENCES batch(id) ON DELETE SET NULL,
          -- When the fence was made again from the drive log, after damage had taken it from the store.
          recovered_at INTEGER,
          -- What the modem reported in the fence, as JSON (FenceRadio).
          radio TEXT,
          -- Pings that the host could not send; they are not among `pings`.
          pings_unsent INTEGER NOT NULL DEFAULT 0,
          -- The server would accept it, but its drive has a target of its own: it is not submittable.
          kept INTEGER NOT NULL DEFAULT 0,
          UNIQUE (drive_id, number)
        ) STRICT;
        CREATE INDEX fence_of_session ON fence(session_id, number);
        CREATE INDEX fence_of_batch ON fence(batch_id, number);
        -- Few, however many fences the server has already.
        CREATE INDEX fence_unsent ON fence(session_id) WHERE submitted_at IS NULL;
        CREATE INDEX fence_open ON fence(drive_id) WHERE exited_at IS NULL;

        -- Ids of sessions whose deletion has begun: a crash on the way is made good by the next start.
        CREATE TABLE forgetting (
          id INTEGER PRIMARY KEY
        ) STRICT;
        """)
  }

  private static func createServersAndClocks(_ db: Database) throws {
    try db.execute(
      sql: """
        -- One row: the ids of drives, sessions and fences are unique with it only.
        CREATE TABLE identity (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          uuid TEXT NOT NULL
        ) STRICT;

        CREATE TABLE registration (
          control_server TEXT NOT NULL PRIMARY KEY,
          client_uuid TEXT NOT NULL,
          -- How far the server's history is known: the time of the newest test seen, in milliseconds.
          history_cursor INTEGER
        ) STRICT;

        -- The circuit breaker, as JSON.
        CREATE TABLE breaker (
          control_server TEXT NOT NULL PRIMARY KEY,
          memory TEXT NOT NULL
        ) STRICT;

        -- Which wall time holds in a boot of the host, and the readings of all clocks that speak for or against it.
        CREATE TABLE clock (
          boot_id TEXT NOT NULL PRIMARY KEY,
          -- The wall time of the boot.
          booted_at INTEGER NOT NULL,
          -- gnss, server or host.
          ruled_by TEXT NOT NULL,
          -- Whether two clocks agreed on it.
          confirmed INTEGER NOT NULL,
          -- All of it, as JSON.
          memory TEXT NOT NULL
        ) STRICT;
        """)
  }

  private static func createSpeedTests(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE speed_test (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          -- The control server that made the test; no other one accepts its result.
          control_server TEXT NOT NULL,
          client_uuid TEXT NOT NULL,
          test_uuid TEXT NOT NULL UNIQUE,
          test_token TEXT NOT NULL,
          -- The loop and the number in it, from 1; NULL for a single test.
          loop_uuid TEXT,
          number INTEGER,
          -- The drive that was being recorded.
          drive_id INTEGER,
          -- The open store that measured it: a row of another one that still measures was interrupted.
          writer TEXT NOT NULL,
          started_at INTEGER NOT NULL,
          ended_at INTEGER,
          outcome TEXT CHECK (outcome IN ('completed', 'failed', 'aborted')),
          -- sending: it may have left, and the result is not known.
          state TEXT NOT NULL CHECK (state IN ('measuring', 'waiting', 'sending', 'submitted', 'quarantined')),
          attempt INTEGER NOT NULL DEFAULT 0,
          troubles INTEGER NOT NULL DEFAULT 0,
          sent_at INTEGER,
          settled_at INTEGER,
          -- Why the server refused it, in its words.
          reason TEXT,
          -- Why it failed or was aborted.
          error TEXT,
          latitude REAL,
          longitude REAL,
          technology TEXT,
          -- SpeedTestFigures as JSON.
          figures TEXT,
          -- The results of the QoS tests as the server takes them, and whether it has them.
          qos TEXT,
          qos_state TEXT CHECK (qos_state IN ('waiting', 'sending', 'submitted', 'quarantined'))
        ) STRICT;
        CREATE INDEX speed_test_unsent ON speed_test(id) WHERE state IN ('measuring', 'waiting', 'sending');

        -- The loop of speed tests, as JSON (LoopMemory): one row.
        CREATE TABLE loop (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          memory TEXT NOT NULL
        ) STRICT;
        """)
  }
}
