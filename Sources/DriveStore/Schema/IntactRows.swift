import GRDB

/// The one place that tells whole rows from damaged ones: temporary views of each connection.
///
/// For each table there are `intact_NAME`, its rows that are as they were written, and `damaged_NAME`, its other rows. Reads of values
/// go through `intact_NAME`; a table itself is read only for ids, counts, and damaged rows. `readable_fence` is a fence
/// that can be sent or exported: neither it nor the batch that it waits in is damaged. A fence that the server has needs no batch.
/// `session_of_fences` has the ids of sessions that fences name, whether there is such a session or not.
///
/// The views are not in the file: damage cannot reach them, and a store of an earlier build has them as well.
/// SQLite merges them into the statement, so that its indices serve as for the tables.
enum IntactRows {
  /// Makes the views for a connection. Its database may still be empty: views are resolved where they are used.
  /// - Throws: GRDB's `DatabaseError`
  static func makeViews(_ db: Database) throws {
    try RowChecksum.register(db)
    for (table, _) in RowChecksum.tables {
      let isIntact = RowChecksum.isIntact(table)
      try db.execute(
        sql: """
          CREATE TEMP VIEW IF NOT EXISTS intact_\(table) AS SELECT * FROM main.\(table) WHERE \(isIntact);
          CREATE TEMP VIEW IF NOT EXISTS damaged_\(table) AS SELECT * FROM main.\(table) WHERE NOT (\(isIntact));
          """)
    }
    try db.execute(
      sql: """
        CREATE TEMP VIEW IF NOT EXISTS readable_fence AS SELECT * FROM intact_fence AS fence
          WHERE batch_id IS NULL OR submitted_at IS NOT NULL
            OR EXISTS (SELECT 1 FROM intact_batch AS batch WHERE batch.id = fence.batch_id);
        -- From each id to the next one in the index: as many steps as there are sessions, not as there are fences.
        CREATE TEMP VIEW IF NOT EXISTS session_of_fences AS
          WITH RECURSIVE named (id) AS (
            SELECT min(session_id) FROM main.fence
            UNION ALL SELECT (SELECT min(session_id) FROM main.fence WHERE session_id > named.id) FROM named
              WHERE named.id IS NOT NULL)
          SELECT id FROM named WHERE id IS NOT NULL;
        """)
  }
}
