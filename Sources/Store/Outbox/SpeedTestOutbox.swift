import Coverage
import Foundation
import GRDB

/// The speed tests of the store: measured, to send, on their way, sent or refused. Each step is durable before anything relies on it.
public struct SpeedTestOutbox: Sendable {
  let store: StoreDatabase

  /// A test that a control server has made.
  public struct Start: Sendable {
    /// The URL of the control server.
    public var controlServer: String
    /// The client UUID of the request.
    public var clientUUID: String
    /// The server's identifier of the test.
    public var testUUID: String
    /// The token, as it came.
    public var token: String
    /// The loop, as it came; `nil` for a single test.
    public var loopUUID: String?
    /// The number in the loop, from 1.
    public var number: Int?
    /// The drive that is being recorded.
    public var drive: Int64?
    /// Now, by the selected clock.
    public var started: WallTime
    /// The place where it begins.
    public var place: Coordinate?
    public var technology: Technology?

    /// A test that begins now.
    public init(controlServer: String, clientUUID: String, testUUID: String, token: String, started: WallTime) {
      (self.controlServer, self.clientUUID, self.testUUID) = (controlServer, clientUUID, testUUID)
      (self.token, self.started) = (token, started)
    }
  }

  /// The end of a test.
  public struct End: Sendable {
    /// How it ended.
    public var outcome: StoredSpeedTest.Outcome
    /// Now, by the selected clock.
    public var ended: WallTime
    /// Its figures, as far as it has any.
    public var figures: SpeedTestFigures?
    /// Why it failed or was aborted.
    public var error: String?
    /// Whether a mobile network carried the test, as far as it is known; else its technology is not that of a modem.
    public var isCellular = true
    /// The technology of the reading whose cell and signal are in the figures; `nil`: that of the start, if the figures have neither.
    public var technology: Technology?

    public init(
      _ outcome: StoredSpeedTest.Outcome, at ended: WallTime, figures: SpeedTestFigures?, error: String? = nil
    ) {
      (self.outcome, self.ended, self.figures, self.error) = (outcome, ended, figures, error)
    }
  }

  // MARK: Measuring

  /// Stores a test that begins.
  /// - Returns: Its id.
  /// - Throws: ``StoreError/usedTest(_:)`` when the server gave its UUID before; GRDB's `DatabaseError`
  public func begin(_ start: Start) async throws -> Int64 {
    try await store.write { [writer = store.writer, copies = store.copies] db in
      guard try !db.has("speed_test WHERE test_uuid = ?", [start.testUUID]) else {
        throw StoreError.usedTest(start.testUUID)
      }
      try db.execute(
        sql: """
          INSERT INTO speed_test (control_server, client_uuid, test_uuid, test_token, loop_uuid, number, drive_id, writer,
            started_at, state, latitude, longitude, technology)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'measuring', ?, ?, ?)
          """,
        arguments: [
          ServerKey.of(start.controlServer), start.clientUUID, start.testUUID, start.token, start.loopUUID,
          start.number, start.drive, writer, start.started.microseconds, start.place?.latitude, start.place?.longitude,
          start.technology?.name,
        ])
      let id = db.lastInsertedRowID
      try copies.keep(.speedTest, id, db)
      return id
    }
  }

  /// Stores the end of a running test: it waits to be sent. A test that has ended already stays as it is.
  /// - Parameters:
  ///   - known: What became of its result, if it was sent from memory.
  ///   - time: When `known` was stated.
  /// - Throws: GRDB's `DatabaseError`, `EncodingError`
  public func end(_ id: Int64, _ end: End, known: StoredSpeedTest? = nil, at time: WallTime? = nil) async throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let figures = try end.figures.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    // That of the start is of another reading than the cell and the signal.
    let isMixed = end.technology == nil && (end.figures?.cell != nil || end.figures?.signal != nil)
    let isSettled = known.map { [.submitted, .quarantined].contains($0.state) } ?? false
    try await store.write { [copies = store.copies] db in
      try db.execute(
        sql: """
          UPDATE speed_test SET outcome = ?, ended_at = ?, state = ?, attempt = ?, sent_at = ?, settled_at = ?, reason = ?, error = ?,
            figures = ?, technology = iif(?, ifnull(?, technology), NULL)
          WHERE id = ? AND state = 'measuring'
          """,
        arguments: [
          end.outcome.rawValue, end.ended.microseconds, (known?.state ?? .waiting).rawValue, known?.attempt ?? 0,
          known?.sent?.microseconds, isSettled ? time?.microseconds : nil, known?.reason, end.error, figures,
          end.isCellular && !isMixed, end.technology?.name, id,
        ])
      try copies.keep(.speedTest, id, db)
    }
  }

  /// Stores the results of the QoS tests of an ended test: they wait to be sent.
  /// - Parameters:
  ///   - results: A JSON array as the server takes it.
  ///   - id: The id of the test.
  /// - Throws: GRDB's `DatabaseError`
  public func add(qos results: String, to id: Int64) async throws {
    try await set(id, "qos = ?, qos_state = 'waiting'", [results])
  }

  /// Marks tests as aborted that a dead process was measuring. Their last known moment is their start.
  /// - Returns: Their number.
  /// - Throws: GRDB's `DatabaseError`
  public func endInterrupted() async throws -> Int {
    try await store.write { [writer = store.writer, copies = store.copies] db in
      let ended = try Int64.fetchAll(
        db,
        sql: """
          UPDATE speed_test SET outcome = 'aborted', ended_at = started_at, state = 'waiting',
            error = 'the program ended during the test'
          WHERE id IN (SELECT id FROM intact_speed_test WHERE state = 'measuring' AND writer <> ?)
          RETURNING id
          """, arguments: [writer])
      for id in ended { try copies.keep(.speedTest, id, db) }
      return ended.count
    }
  }

  // MARK: Sending

  /// The ended tests that the server at `url` does not have, as far as it is known: the newest first, those that met trouble behind the
  /// others.
  /// - Throws: GRDB's `DatabaseError`
  public func unsent(at url: String, withQuarantined: Bool = false) async throws -> [StoredSpeedTest] {
    let states = withQuarantined ? "'waiting', 'sending', 'quarantined'" : "'waiting', 'sending'"
    return try await store.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(StoredSpeedTest.columns) FROM intact_speed_test
          WHERE control_server = ? AND (state IN (\(states)) OR state = 'submitted' AND qos_state IN (\(states)))
          ORDER BY troubles > 0, iif(troubles > 0, sent_at, -started_at), id
          """, arguments: [ServerKey.of(url)]
      ).compactMap(StoredSpeedTest.init)
    }
  }

  /// The number of ended tests of other servers, which the server at `url` cannot take.
  /// - Throws: GRDB's `DatabaseError`
  public func unsentElsewhere(than url: String) async throws -> Int {
    try await store.read { db in
      try Int.fetchOne(
        db,
        sql: "SELECT count(*) FROM intact_speed_test WHERE state IN ('waiting', 'sending') AND control_server <> ?",
        arguments: [ServerKey.of(url)]) ?? 0
    }
  }

  /// The two reports about a test.
  public enum Part: Sendable {
    /// The result, or the message that there is none.
    case result
    /// The results of the QoS tests.
    case qos

    var column: String { self == .result ? "state" : "qos_state" }
  }

  /// Marks a report as sending. Must be called before its first byte leaves: after any crash, the next process knows that the server may
  /// have it.
  /// - Throws: GRDB's `DatabaseError`
  public func beginSending(_ id: Int64, _ part: Part, at time: WallTime) async throws {
    try await set(id, "\(part.column) = 'sending', attempt = attempt + 1, sent_at = ?", [time.microseconds])
  }

  /// Marks a report as waiting again: the server has certainly not stored it.
  /// - Throws: GRDB's `DatabaseError`
  public func release(_ id: Int64, _ part: Part) async throws { try await set(id, "\(part.column) = 'waiting'", []) }

  /// Counts trouble, which moves the test behind the others.
  /// - Throws: GRDB's `DatabaseError`
  public func noteTrouble(_ id: Int64) async throws { try await set(id, "troubles = troubles + 1", []) }

  /// Marks a report as submitted. The test stays stored for export.
  /// - Throws: GRDB's `DatabaseError`
  public func markSubmitted(_ id: Int64, _ part: Part, at time: WallTime) async throws {
    try await set(id, "\(part.column) = 'submitted', settled_at = ?, reason = NULL", [time.microseconds])
  }

  /// Marks a report as refused. It stays stored, and is sent again on command only.
  /// - Throws: GRDB's `DatabaseError`
  public func quarantine(_ id: Int64, _ part: Part, reason: String, at time: WallTime) async throws {
    try await set(id, "\(part.column) = 'quarantined', settled_at = ?, reason = ?", [time.microseconds, reason])
  }

  private func set(_ id: Int64, _ columns: String, _ arguments: [(any DatabaseValueConvertible)?]) async throws {
    let arguments = StatementArguments(arguments) + [id]
    try await store.write { [copies = store.copies] db in
      try db.execute(sql: "UPDATE speed_test SET \(columns) WHERE id = ?", arguments: arguments)
      try copies.keep(.speedTest, id, db)
    }
  }

  // MARK: Deleting

  /// Deletes a test, sent or not, and overwrites its bytes. A running test stays.
  /// - Returns: Whether there was such a test.
  /// - Throws: GRDB's `DatabaseError`
  public func forget(_ id: Int64) async throws -> Bool {
    let isDeleted = try await store.write { [writer = store.writer, copies = store.copies] db in
      let ids = try Int64.fetchAll(
        db, sql: "SELECT id FROM speed_test WHERE id = ? AND NOT (state = 'measuring' AND writer = ?)",
        arguments: [id, writer])
      try copies.delete(speedTests: ids, db)
      return !ids.isEmpty
    }
    if isDeleted { try await store.queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    return isDeleted
  }
}
