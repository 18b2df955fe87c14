import Coverage
import GRDB

/// Batches whose rows are damaged, or were lost in a salvage, while fences in them were not sent.
///
/// Such a batch may have left, so that it counts as one in doubt: state `sending`, of which nothing but the sending itself is known
/// (attempt 0). Of its test only the name is believed, and only for asking: an anchor that is wrong would place all its fences wrongly.
extension DriveStore {
  /// Sets damaged rows of batches right whose fences wait.
  /// - Parameter running: The first of the drives that are being recorded; they are left alone.
  /// - Returns: How many batches are in doubt now.
  /// - Throws: GRDB's `DatabaseError`
  public func doubtDamagedBatches(except running: Int64? = nil) async throws -> Int {
    try await keep { db in
      let damaged = try Row.fetchAll(
        db,
        sql: """
          SELECT batch_id AS batch, min(session_id) AS session FROM fence
          WHERE batch_id IN (SELECT id FROM batch WHERE NOT (\(RowChecksum.isIntact("batch")))) AND \(Self.waits)
            AND drive_id < ifnull(?, 1 << 62)
          GROUP BY batch_id
          """, arguments: [running])
      for row in damaged {
        let batch: Int64 = row["batch"]
        try db.execute(
          sql: """
            UPDATE batch SET session_id = ?, state = 'sending', attempt = 0, troubles = 0, checksum = NULL, sent_fences = NULL,
              sent_at = NULL, settled_at = NULL, reason = NULL, anchor_at = NULL,
              test_uuid = iif(typeof(test_uuid) = 'text', test_uuid, NULL),
              client_uuid = iif(typeof(client_uuid) = 'text', client_uuid, NULL)
            WHERE id = ?
            """, arguments: [row["session"] as Int64, batch])
        try RowChecksum.sign("batch", id: batch, db)
        try Self.nameClient(of: batch, db)
      }
      return damaged.count
    }
  }

  /// Makes rows for batches that a salvage did not find. Where all that waits of a session was in one of them, it went to the session's
  /// test, if it went.
  static func doubtLostBatches(_ db: Database) throws {
    try settleSentBatches(db)
    let lost = try Int64.fetchAll(
      db,
      sql: """
        INSERT INTO batch (id, session_id, state) SELECT batch_id, min(session_id), 'sending' FROM fence
          -- Without a row in batch, NOT IN is true for NULL: fences of no batch are not one.
          WHERE batch_id IS NOT NULL AND batch_id NOT IN (SELECT id FROM batch) AND \(waits) GROUP BY batch_id
        RETURNING id
        """)
    // What the server has needs none.
    try db.execute(sql: "UPDATE fence SET batch_id = NULL WHERE batch_id NOT IN (SELECT id FROM batch)")
    for batch in lost {
      try db.execute(
        sql: """
          UPDATE batch SET test_uuid = session.test_uuid, anchor_at = session.anchor_at FROM session
          WHERE batch.id = ? AND session.id = batch.session_id AND session.anchor_at IS NOT NULL
            AND session.test_uuid NOT IN (SELECT test_uuid FROM batch WHERE test_uuid IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submittable AND batch_id IS NOT batch.id)
          """, arguments: [batch])
      try nameClient(of: batch, db)
    }
  }

  /// The fences of a batch are marked as sent in one transaction, and a batch gets no fence after it was made: where one is sent, all are.
  private static func settleSentBatches(_ db: Database) throws {
    let sent =
      "SELECT batch_id FROM fence WHERE batch_id IS NOT NULL AND submitted_at IS NOT NULL AND \(RowChecksum.isIntact("fence"))"
    try db.execute(
      sql: """
        UPDATE fence SET submitted_at = (SELECT max(submitted_at) FROM fence AS other WHERE other.batch_id = fence.batch_id)
          WHERE submitted_at IS NULL AND \(RowChecksum.isIntact("fence")) AND batch_id IN (\(sent));
        UPDATE batch SET state = 'submitted', settled_at = coalesce(settled_at,
            (SELECT max(submitted_at) FROM fence WHERE batch_id = batch.id))
          WHERE state IN ('waiting', 'sending') AND id IN (\(sent));
        """)
  }

  /// A fence in a batch that is to be sent. Only the server knows whether it was.
  private static let waits = "submittable AND submitted_at IS NULL AND \(RowChecksum.isIntact("fence"))"

  /// Under which name it left, if that can be told: its session's, or the only one that there is.
  static func nameClient(of batch: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE batch SET client_uuid = coalesce(client_uuid,
          (SELECT client_uuid FROM session WHERE id = batch.session_id AND \(RowChecksum.isIntact("session"))),
          (SELECT min(client_uuid) FROM registration WHERE \(RowChecksum.isIntact("registration")) HAVING count(*) = 1))
        WHERE id = ?
        """, arguments: [batch])
  }

  /// The tests of which it is known what they were used for: those of batches, damaged or not, and of sessions of which something is
  /// sent. In lower case.
  /// - Throws: GRDB's `DatabaseError`
  public func knownTests() async throws -> Set<String> {
    try await database.read { db in
      try String.fetchSet(
        db,
        sql: """
          SELECT lower(test_uuid) FROM batch WHERE typeof(test_uuid) = 'text'
          UNION SELECT lower(test_uuid) FROM session WHERE test_uuid IS NOT NULL AND \(RowChecksum.isIntact("session"))
            AND EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submitted_at IS NOT NULL)
          """)
    }
  }
}
