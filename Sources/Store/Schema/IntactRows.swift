import GRDB

/// Separates intact rows from damaged ones, in one place: temporary views of each connection.
///
/// Each table has the view `intact_NAME`, its intact rows. Statements read values through it. They read the table itself for ids, counts and damaged rows, and where a damaged value must
/// not be ignored: the conditions of ``AgeDeletion`` and the test ids that a history could show. `readable_fence` has the
/// fences that can be sent or exported: neither the fence nor the batch that it waits in is damaged. A sent fence
/// needs no batch. `session_of_fences` has the ids of sessions that fences name, whether such a session exists or
/// not; `session_of_unsent_fences` only those of unsent fences that Wi-Fi did not touch.
///
/// The views are not in the file: damage cannot reach them. SQLite merges them into the statement, so that the tables' indices apply.
enum IntactRows {
  /// Creates the views on a connection. The database may still be empty: views are resolved when they are used.
  static func makeViews(_ db: Database) throws {
    try ChecksumFunction.register(db)
    for (table, _) in RowChecksum.tables {
      try db.execute(
        sql:
          "CREATE TEMP VIEW IF NOT EXISTS intact_\(table) AS SELECT * FROM main.\(table) WHERE \(RowChecksum.isIntact(table))"
      )
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
        -- The same by the index of unsent fences: a store of a million sent fences has few of them.
        CREATE TEMP VIEW IF NOT EXISTS session_of_unsent_fences AS
          WITH RECURSIVE named (id) AS (
            SELECT min(session_id) FROM main.fence INDEXED BY fence_waiting WHERE submitted_at IS NULL AND submittable
            UNION ALL SELECT
              (SELECT min(session_id) FROM main.fence INDEXED BY fence_waiting
                WHERE submitted_at IS NULL AND submittable AND session_id > named.id)
              FROM named WHERE named.id IS NOT NULL)
          SELECT id FROM named WHERE id IS NOT NULL;
        """)
  }
}
