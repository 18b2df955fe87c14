import Coverage
import GRDB

/// A drive, or the part of one, that the disk refuses: for a store in memory, from which it is submitted.
public struct DriveInMemory: Hashable, Sendable {
  /// Its id in the store on the disk.
  public let drive: Int64
  /// The start of the drive by the selected clock.
  public let started: WallTime
  /// The end of the drive.
  public let ended: DriveTime
  /// Why it ended.
  public let stopReason: StopReason
  /// The path of its log; `nil` without one, or while lines of it are in memory only: nothing may come between them.
  public let log: String?
  /// Finalized sessions.
  public let sessions: [Session]
  /// Ended fences of these sessions, in one request for each test.
  public let fences: [Fence]
  /// The numbers of those of which the store has nothing.
  public let unstored: Set<Int>

  public init(
    drive: Int64, started: WallTime, ended: DriveTime, stopReason: StopReason, log: String?, sessions: [Session],
    fences: [Fence], unstored: Set<Int>
  ) {
    (self.drive, self.started, self.ended, self.stopReason) = (drive, started, ended, stopReason)
    (self.log, self.sessions) = (log, sessions)
    (self.fences, self.unstored) = (fences, unstored)
  }
}

/// A batch that may have left from memory, or has a test: a later write of the same fences has to say so.
public struct BatchInMemory: Hashable, Sendable {
  /// The id of its drive.
  public let drive: Int64
  /// The number of its session in the drive.
  public let session: Int
  /// The numbers of its fences in the drive.
  public let fences: [Int]
  /// Its row in the store in memory.
  public let batch: Batch
  /// When its state became final.
  let settled: WallTime?
  /// Why it was refused.
  let reason: String?

  /// Whether the server has its fences.
  public var isSubmitted: Bool { batch.state == .submitted }

  /// What the server has with it, for the drive log; `nil` when it has not accepted it.
  public var accepted: AcceptedFences? {
    guard isSubmitted, let test = batch.test, let settled else { return nil }
    return AcceptedFences(testUUID: test.uuid, anchor: test.anchor, accepted: settled, fences: fences)
  }

  /// Inserts the batch, and puts its fences into it.
  func save(as drive: Int64, _ db: Database) throws {
    guard let session = try db.session(of: drive, number: session) else { return }
    try db.execute(
      sql: """
        INSERT INTO batch (session_id, test_uuid, anchor_at, client_uuid, state, attempt, sent_fences, sent_at, doubt, settled_at, reason)
        VALUES (:session, iif(EXISTS (SELECT 1 FROM batch WHERE test_uuid = :test), NULL, :test), :anchor, :client, :state,
          :attempt, :fences, :sent, :doubt, :settled, :reason)
        """,
      arguments: [
        "session": session, "test": batch.test?.uuid, "anchor": batch.test?.anchor.microseconds, "client": batch.client,
        "state": batch.state.rawValue, "attempt": batch.attempt, "fences": batch.sentFences,
        "sent": batch.sent?.microseconds, "doubt": batch.doubt, "settled": settled?.microseconds, "reason": reason,
      ])
    let id = db.lastInsertedRowID
    for number in fences {
      try db.execute(
        sql: "UPDATE fence SET batch_id = ?, submitted_at = ? WHERE drive_id = ? AND number = ?",
        arguments: [id, isSubmitted ? (settled ?? batch.sent)?.microseconds : nil, drive, number])
    }
    if isSubmitted { try BatchTable.nameSession(byTestOf: id, db) }
    try BatchTable.summarise(session: session, at: settled ?? batch.earliest, db)
  }
}
