import GRDB

/// The tables, with the names of the real server's.
enum Schema {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          CREATE TABLE client (uuid TEXT PRIMARY KEY, time INTEGER NOT NULL);

          -- One row a test; `request_body` and `result_body` are the bodies as received.
          CREATE TABLE test (
            id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, open_test_uuid TEXT NOT NULL UNIQUE,
            client_uuid TEXT NOT NULL REFERENCES client (uuid), loop_uuid TEXT NOT NULL,
            loop_test_counter INTEGER NOT NULL, state TEXT NOT NULL, time INTEGER NOT NULL,
            measurement_type_flag TEXT, signal INTEGER NOT NULL, client_name TEXT NOT NULL, software_revision TEXT,
            client_ip TEXT, ip_registered TEXT NOT NULL, ip_submitted TEXT, public_ip_changed INTEGER NOT NULL DEFAULT 0,
            deleted INTEGER NOT NULL DEFAULT 0, network_type INTEGER, termination_cause TEXT, fences_count INTEGER,
            client_version TEXT, client_language TEXT, timezone TEXT, platform TEXT, product TEXT, api_level TEXT,
            os_version TEXT, model TEXT, device TEXT, client_software_version TEXT,
            registered INTEGER NOT NULL, request_body TEXT NOT NULL, result_body TEXT);

          CREATE TABLE fence (
            test_uuid TEXT NOT NULL REFERENCES test (uuid), fence_id INTEGER NOT NULL, fence_time INTEGER NOT NULL,
            latitude REAL NOT NULL, longitude REAL NOT NULL, accuracy REAL, altitude REAL, bearing REAL, speed REAL,
            provider TEXT, technology_id INTEGER, technology TEXT, offset_ms INTEGER NOT NULL,
            duration_ms INTEGER NOT NULL, radius INTEGER, avg_ping_ms REAL, signal REAL, received TEXT NOT NULL,
            PRIMARY KEY (test_uuid, fence_id));

          CREATE TABLE request (
            id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL,
            peer TEXT, fault TEXT, status INTEGER, reason TEXT, body TEXT NOT NULL);

          CREATE TABLE request_count (path TEXT PRIMARY KEY, count INTEGER NOT NULL);
          """)
    }
    migrator.registerMigration("2") { db in
      try db.execute(
        sql: """
          -- The encoding of the body, and the client's port: requests with the same port used one connection.
          ALTER TABLE request ADD COLUMN encoding TEXT;
          ALTER TABLE request ADD COLUMN port INTEGER;
          """)
    }
    migrator.registerMigration("3") { db in try db.execute(sql: speedTests) }
    migrator.registerMigration("4") { db in
      try db.execute(
        sql: """
          -- What the trigger of the real server's database makes of `network_type`; a deleted test counts nowhere.
          ALTER TABLE speed_test ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
          ALTER TABLE speed_test ADD COLUMN network_group_name TEXT;
          ALTER TABLE speed_test ADD COLUMN network_group_type TEXT;
          """)
    }
    migrator.registerMigration("radio") { db in
      try db.execute(
        sql: """
          -- Cells and signals of coverage tests and of speed tests, as received.
          CREATE TABLE radio_cell (uuid TEXT PRIMARY KEY, test_uuid TEXT NOT NULL, received TEXT NOT NULL);
          CREATE TABLE radio_signal (cell_uuid TEXT NOT NULL, test_uuid TEXT NOT NULL, received TEXT NOT NULL);
          """)
    }
    return migrator
  }

  private static let speedTests = """
    -- One row a speed test; a test whose state is not STARTED takes no result.
    CREATE TABLE speed_test (
      id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, open_test_uuid TEXT NOT NULL UNIQUE,
      client_uuid TEXT NOT NULL REFERENCES client (uuid), token TEXT NOT NULL UNIQUE, loop_uuid TEXT,
      test_counter INTEGER, measurement_type_flag TEXT, state TEXT NOT NULL, timezone TEXT NOT NULL,
      client_ip TEXT NOT NULL, registered INTEGER NOT NULL, request_body TEXT NOT NULL);

    -- Every result that was accepted; no constraint hides a second one of a test.
    CREATE TABLE speed_result (
      id INTEGER PRIMARY KEY, test_uuid TEXT NOT NULL REFERENCES speed_test (uuid), received INTEGER NOT NULL,
      test_speed_download INTEGER NOT NULL, test_speed_upload INTEGER NOT NULL, test_ping_shortest INTEGER NOT NULL,
      network_type INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE INDEX speed_result_of_test ON speed_result (test_uuid);

    CREATE TABLE qos_result (
      id INTEGER PRIMARY KEY, test_uuid TEXT NOT NULL REFERENCES speed_test (uuid), received INTEGER NOT NULL,
      body TEXT NOT NULL);
    CREATE INDEX qos_result_of_test ON qos_result (test_uuid);
    """
}
