import GRDB

/// How many fences wait in each session and batch, so that no status and no pass reads all of them: after a week without a server there are
/// hundreds of thousands. Triggers keep the counts. A salvage inserts the fences again, and so their counts.
///
/// The counts are for operators, and for the sizes of batches. Which fences wait is decided by the fences themselves, through the index.
/// The rows have no checksums: the index has all that is in them, and ``mend(_:)`` counts again after damage.
enum UnsentCounts {
  static let table = "unsent"

  private static let counted = """
    SELECT session_id, ifnull(batch_id, 0), count(*) FROM fence
      WHERE submitted_at IS NULL AND submittable AND typeof(session_id) = 'integer' GROUP BY session_id, batch_id
    """

  /// Counts again if the counts are not those of the fences. The index alone is read, beside the writer.
  static func mend(_ store: StoreDatabase) async throws {
    let areWrong = try await store.read { db in
      try Bool.fetchOne(
        db,
        sql: """
          WITH counted AS (\(counted)) SELECT EXISTS (SELECT * FROM unsent EXCEPT SELECT * FROM counted)
            OR EXISTS (SELECT * FROM counted EXCEPT SELECT * FROM unsent)
          """) ?? false
    }
    guard areWrong else { return }
    try await store.execute("DELETE FROM unsent; INSERT INTO unsent \(counted)")
  }

  static func install(_ db: Database) throws {
    let before = "session_id = OLD.session_id AND batch_id = ifnull(OLD.batch_id, 0)"
    // A damaged row may have a value of any type.
    let count = """
      INSERT INTO unsent (session_id, batch_id, fences) SELECT NEW.session_id, ifnull(NEW.batch_id, 0), 1
          WHERE NEW.submittable AND NEW.submitted_at IS NULL AND typeof(NEW.session_id) = 'integer'
          ON CONFLICT (session_id, batch_id) DO UPDATE SET fences = fences + 1;
      """
    try db.execute(
      sql: """
        CREATE TABLE unsent (
          session_id INTEGER NOT NULL,
          -- 0 for the fences that are in no batch yet.
          batch_id INTEGER NOT NULL,
          fences INTEGER NOT NULL,
          PRIMARY KEY (session_id, batch_id)
        ) WITHOUT ROWID;
        CREATE INDEX fence_waiting ON fence(session_id, batch_id) WHERE submitted_at IS NULL AND submittable;

        CREATE TRIGGER fence_counted AFTER INSERT ON fence BEGIN
          \(count)
        END;
        CREATE TRIGGER fence_uncounted AFTER DELETE ON fence WHEN OLD.submittable AND OLD.submitted_at IS NULL BEGIN
          UPDATE unsent SET fences = fences - 1 WHERE \(before);
          DELETE FROM unsent WHERE \(before) AND fences <= 0;
        END;
        CREATE TRIGGER fence_recounted AFTER UPDATE OF session_id, batch_id, submittable, submitted_at ON fence
        WHEN OLD.session_id IS NOT NEW.session_id OR OLD.batch_id IS NOT NEW.batch_id OR OLD.submittable IS NOT NEW.submittable
          OR (OLD.submitted_at IS NULL) <> (NEW.submitted_at IS NULL) BEGIN
          UPDATE unsent SET fences = fences - 1 WHERE \(before) AND OLD.submittable AND OLD.submitted_at IS NULL;
          DELETE FROM unsent WHERE \(before) AND fences <= 0;
          \(count)
        END;
        """)
  }

  /// The counts of each session: `waiting`, and `quarantined` for those of refused batches.
  static let bySession = """
    (SELECT unsent.session_id, total(fences) FILTER (WHERE batch.state IS NOT 'quarantined') AS waiting,
        total(fences) FILTER (WHERE batch.state IS 'quarantined') AS quarantined
      FROM unsent LEFT JOIN batch ON batch.id = batch_id GROUP BY unsent.session_id)
    """
}
