import Coverage
import GRDB

/// What goes to the control server in one request: fences of one session, for one test. A test takes one result only, so that
/// each part of a session needs a test of its own.
public struct Batch: Hashable, Sendable, Identifiable {
  public enum State: String, Hashable, Sendable {
    /// To be sent.
    case waiting
    /// It may have left, and what came of it is not known.
    case sending
    case submitted
    /// The server refused it; it is sent again on command only.
    case quarantined
    /// Its fences are in other batches now.
    case replaced
  }

  /// A test of the control server.
  public struct Test: Hashable, Sendable {
    public let uuid: String
    /// The moment to which the offsets of the fences relate.
    public let anchor: WallTime

    public init(uuid: String, anchor: WallTime) {
      self.uuid = uuid
      self.anchor = anchor
    }
  }

  public let id: Int64
  public let session: Int64
  /// The wall time of the drive's start.
  public let driveStarted: WallTime
  /// `nil` until the server has made one for it.
  public var test: Test?
  /// The name of the test that it may have gone to, where its row was damaged: to be asked about, and sent nothing.
  var lostTest: String?
  /// The client UUID that the server knows the sender of ``test`` by: only that client's history tells what became of it. `nil`
  /// before it is sent, and in stores of earlier versions. To be shown to nobody.
  public var client: String?
  public let state: State
  /// How often it was sent.
  public let attempt: Int
  /// Trouble that it met; any puts it behind the others. Answers to the batch itself count each time, trouble with a request for its
  /// test, or with the history, once.
  public let troubles: Int
  public let sent: WallTime?
  /// How many fences went with the last request; `nil` when there was none.
  public let sentFences: Int?
  /// How many it has now.
  public let fences: Int
  /// When its first fence was entered.
  public let earliest: WallTime

  /// Whether its row was damaged, or lost: whether it ever left, and what with, is not known.
  public var isLost: Bool { state == .sending && attempt == 0 }
  /// The test whose fences may be its own.
  public var testInQuestion: String? { test?.uuid ?? lostTest }
}

extension Batch {
  /// Damaged rows are left out, and batches of nothing else; so are fences that the server has, but in batches that it has.
  static let columns = """
    batch.*, drive.started_at AS drive_started_at, count(fence.id) AS fences, min(fence.entered_at) AS earliest
    FROM batch JOIN fence ON fence.batch_id = batch.id AND (fence.submitted_at IS NULL OR batch.state = 'submitted')
      JOIN session ON session.id = batch.session_id JOIN drive ON drive.id = session.drive_id
    WHERE \(RowChecksum.isIntact("batch")) AND \(RowChecksum.isIntact("fence"))
      AND \(RowChecksum.isIntact("session")) AND \(RowChecksum.isIntact("drive"))
    """

  init?(row: Row) {
    guard let state = State(rawValue: row["state"]) else { return nil }
    func time(_ column: String) -> WallTime? { (row[column] as Int64?).map(WallTime.init(microseconds:)) }
    id = row["id"]
    session = row["session_id"]
    driveStarted = WallTime(microseconds: row["drive_started_at"])
    let uuid: String? = row["test_uuid"]
    let anchor = time("anchor_at")
    test = if let uuid, let anchor { Test(uuid: uuid, anchor: anchor) } else { nil }
    lostTest = anchor == nil ? uuid : nil
    client = row["client_uuid"]
    self.state = state
    attempt = row["attempt"]
    troubles = row["troubles"]
    sent = time("sent_at")
    sentFences = row["sent_fences"]
    fences = row["fences"]
    earliest = WallTime(microseconds: row["earliest"])
  }
}

extension DriveStore {
  /// The batches of `sessions` in one of these states.
  public func batches(of sessions: [Int64], in states: [Batch.State]) async throws -> [Batch] {
    try await database.read { db in
      try sessions.flatMap { try Self.batches("batch.session_id = ?", [$0], db) }
    }.filter { states.contains($0.state) }
  }

  static func batches(_ condition: String, _ arguments: StatementArguments, _ db: Database) throws -> [Batch] {
    try Row.fetchAll(
      db, sql: "SELECT \(Batch.columns) AND \(condition) GROUP BY batch.id ORDER BY batch.id", arguments: arguments
    ).compactMap(Batch.init)
  }

  /// Puts all fences of `sessions` that are to be sent, and are in no batch yet, into batches.
  ///
  /// The first one of a session gets the session's own test, where it has one that no batch has used. Rows whose position cannot
  /// be are quarantined here: nobody could use them.
  /// - Parameter limit: The most fences of a batch.
  /// - Throws: GRDB's `DatabaseError`
  public func makeBatches(of sessions: [Int64], limit: Int, at time: WallTime) async throws {
    try await keep { db in
      for session in sessions {
        let fences = try Row.fetchAll(
          db,
          sql: """
            SELECT id, abs(latitude) <= 90 AND abs(longitude) <= 180 AS is_on_earth FROM fence
            WHERE session_id = ? AND batch_id IS NULL AND submitted_at IS NULL AND submittable AND exited_at IS NOT NULL
              AND \(RowChecksum.isIntact("fence"))
            ORDER BY entered_at, number
            """, arguments: [session])
        var good = fences.filter { $0["is_on_earth"] }.map { $0["id"] as Int64 }[...]
        while !good.isEmpty {
          let batch = try Self.makeBatch(of: good.prefix(limit), session: session, db)
          try Self.useSessionsTest(for: batch, db)
          good = good.dropFirst(limit)
        }
        let damaged = fences.filter { !$0["is_on_earth"] }.map { $0["id"] as Int64 }
        if !damaged.isEmpty {
          let batch = try Self.makeBatch(of: damaged[...], session: session, db)
          try Self.quarantine(batch, session: session, "its position is damaged in the store", at: time, db)
        }
      }
    }
  }

  /// - Returns: Its id.
  @discardableResult
  static func makeBatch(
    of fences: ArraySlice<Int64>, session: Int64, troubles: Int = 0, _ db: Database
  ) throws -> Int64 {
    try db.execute(
      sql: "INSERT INTO batch (session_id, state, troubles) VALUES (?, 'waiting', ?)", arguments: [session, troubles])
    let batch = db.lastInsertedRowID
    for fence in fences {
      try db.execute(sql: "UPDATE fence SET batch_id = ? WHERE id = ?", arguments: [batch, fence])
    }
    return batch
  }

  static func useSessionsTest(for batch: Int64, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE batch SET test_uuid = session.test_uuid, anchor_at = session.anchor_at, client_uuid = session.client_uuid
        FROM session
        WHERE batch.id = ? AND session.id = batch.session_id AND session.anchor_at IS NOT NULL
          AND session.test_uuid NOT IN (SELECT test_uuid FROM batch WHERE test_uuid IS NOT NULL)
          -- The batch that used it may be lost.
          AND NOT EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND submitted_at IS NOT NULL)
        """, arguments: [batch])
  }
}
