import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Batches whose rows are damaged or were lost in a salvage: only the server knows whether they arrived.
@Suite(.serialized)
struct LostBatchSlowTests {
  /// A rig whose server accepted the first part, and whose answer was lost.
  private func rigInDoubt(
    tests: Int = 1, fences: Int = 3, limit: Int = 400
  ) async throws -> SendingRig {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: tests == 0 ? [nil] : try await rig.tests(tests), fences: fences)
    try await rig.tool.setFault("drop-answer", on: "coverageResult", count: 1)
    // The second part meets 429.
    if limit < fences { try await rig.tool.setFault("429", on: "coverageResult", count: 1) }
    #expect(try await rig.sender { $0.fencesPerRequest = limit }.pass(.drive(drive)).sessionsKept == tests.positive)
    return rig
  }

  // MARK: A damaged row

  @Test(
    "when the row of a batch in doubt is damaged, then the history settles it by its test, and nothing is sent twice")
  func damagedInDoubt() async throws {
    let rig = try await rigInDoubt()
    try await rig.store.damage("UPDATE batch SET sent_at = 5, attempt = 0, state = 'waiting'")
    #expect(try await rig.sender().pass(.warm).sessionsSent == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try rig.states() == [.submitted])
    #expect(try await rig.holdsAllOnce(3))
    #expect(try StoreReader(rig.store).damagedRows() == 0)
    try await rig.finish()
  }

  @Test(
    "when the row of an unsent batch is damaged, then the history is read once, and its fences go with correct offsets",
    arguments: [
      "anchor_at = anchor_at + 1", "state = 'submitted'", "state = 'quarantined'", "client_uuid = NULL, troubles = 9",
      "attempt = attempt + 1, sent_fences = 1, sent_at = 7, reason = 'y'",
    ])
  func damagedUnsent(_ change: String) async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [try await rig.test()], fences: 3)
    try await rig.store.outbox.makeBatches(of: [1], limit: 400, at: .rigStart)
    try await rig.store.damage("UPDATE batch SET \(change)")
    #expect(try await rig.sender().pass(.warm).sessionsSent == 1)
    #expect(try await rig.requests("history") == 1)
    #expect(try await rig.holdsAllOnce(3))
    #expect(try rig.states() == [.submitted])
    // The server adds the offset to the time of the test, which is the anchor.
    let stored = try #require(try StoreReader(rig.store).sessions().first)
    let anchor = try #require(stored.session.anchor)
    let offsets = try await rig.tool.fences().map { try #require($0.integer("offset_ms")) }
    #expect(offsets.map { $0 + Int(anchor.sinceStart.inMilliseconds) } == [0, 4000, 8000])
    try await rig.finish()
  }

  @Test("when the test UUID of a batch in doubt is damaged as well, then the history of its session's test settles it")
  func damagedName() async throws {
    let rig = try await rigInDoubt()
    try await rig.store.damage("UPDATE batch SET test_uuid = 'another', sent_fences = 1")
    #expect(try await rig.sender().pass(.warm).sessionsSent == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try rig.states() == [.submitted])
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

  // MARK: After a salvage

  @Test("when all batch rows are lost and a second drive has none yet, then only the second drive is sent")
  func lostTable() async throws {
    let rig = try await SendingRig()
    let sent = try rig.record(tests: [try await rig.test()], fences: 3)
    #expect(try await rig.sender().pass(.drive(sent)).sessionsSent == 1)
    _ = try rig.record(tests: [nil], fences: 3, started: 600)
    try rig.store.salvage(without: "DELETE FROM batch")
    #expect(try await rig.sender().pass(.cold).sessionsSent == 1)
    #expect(try await rig.holdsAllOnce(6))
    try await rig.finish()
  }

  @Test(
    "when the store is rolled back to before a drive without a test was sent, then the history prevents a second sending",
    arguments: [false, true])
  func rolledBack(losesSession: Bool) async throws {
    let rig = try await SendingRig()
    let sent = try rig.record(tests: [nil], fences: 3)
    _ = try rig.record(tests: [try await rig.test()], fences: 5, started: 6000)
    #expect(try await rig.sender().pass(.drive(sent)).sessionsSent == 1)
    try await rig.store.damage(
      "UPDATE fence SET batch_id = NULL, submitted_at = NULL, row_checksum = NULL WHERE drive_id = 1; DELETE FROM batch"
    )
    if losesSession {
      try await rig.store.database.writeWithoutTransaction { db in
        try db.execute(
          sql: "PRAGMA foreign_keys = OFF; DELETE FROM session WHERE drive_id = 1; PRAGMA foreign_keys = ON")
      }
    }
    try rig.store.signFences()
    #expect(try await rig.store.lostBatches.doubtUnsent() == 8)
    let report = try await rig.sender().pass(.cold)
    // The history has the test of the first drive; only the second drive is sent. Without its session's row, the first is not recognised as
    // the one of the history, and waits for an operator.
    #expect(report.sessionsSent == (losesSession ? 1 : 2), "\(report)")
    #expect(try await rig.requests("coverageResult") == 2)
    #expect(try await rig.requests("history") >= 1)
    #expect(try await rig.holdsAllOnce(8))
    try await rig.finish()
  }

  @Test(
    "when the store is rolled back to before a part of a session was sent, then the parts that never left are sent",
    arguments: [3, 6])
  func rolledBackParts(_ fences: Int) async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [try await rig.test()], fences: fences)
    try await rig.store.outbox.makeBatches(of: [1], limit: 2, at: .rigStart)
    for batch in try await rig.store.outbox.batches(of: [1], in: [.waiting]).dropFirst() {
      try await rig.store.outbox.quarantine(batch: batch, reason: "not now", at: .rigStart)
    }
    #expect(try await rig.sender().pass(.cold).fencesSent == 2)
    // As it was before the answer to the first part, when the others had no test.
    try await rig.store.damage(
      """
      UPDATE fence SET submitted_at = NULL; UPDATE session SET submitted_at = NULL, quarantined_at = NULL, quarantine_reason = NULL;
      UPDATE batch SET state = 'waiting', attempt = 0, sent_fences = NULL, sent_at = NULL, settled_at = NULL, reason = NULL;
      UPDATE batch SET test_uuid = NULL, anchor_at = NULL WHERE id > 1;
      """)
    try rig.store.signAll()
    #expect(try await rig.store.lostBatches.doubtUnsent() == fences)
    let report = try await rig.sender().pass(.cold)
    #expect(report.sessionsSent == 1, "\(report)")
    #expect(try rig.states() == [.submitted])
    #expect(try await rig.holdsAllOnce(fences))
    try await rig.finish()
  }

  @Test("when a salvage loses the row of a batch in doubt, then the history settles it by its session's test")
  func lostRow() async throws {
    let rig = try await rigInDoubt()
    try rig.store.salvage(without: "DELETE FROM batch")
    #expect(try await rig.sender().pass(.warm).sessionsSent == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

  @Test(
    "when a salvage loses several batches of a session, one in doubt, then all its fences are quarantined, none sent twice"
  )
  func lostRows() async throws {
    let rig = try await rigInDoubt(fences: 4, limit: 2)
    try rig.store.salvage(without: "DELETE FROM batch")
    #expect(try await rig.sender().pass(.cold).sessionsQuarantined == 1)
    #expect(try await rig.requests("coverageResult") == 2)
    #expect(try await rig.holdsAllOnce(2))
    #expect(try StoreReader(rig.store).sessions().map(\.quarantinedFences) == [4])
    try await rig.finish()
  }

  @Test("when a salvage loses the rows of a sent and an unsent part, then the unsent part does not count as sent")
  func lostSentRow() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [try await rig.test()], fences: 4)
    try await rig.tool.setFault("none", on: "coverageResult", count: 1)
    try await rig.tool.setFault("503", on: "coverageResult", count: 1)
    #expect(try await rig.sender { $0.fencesPerRequest = 2 }.pass(.cold).fencesSent == 2)
    try rig.store.salvage(without: "DELETE FROM batch")
    #expect(try await rig.sender().pass(.cold).sessionsSent == 1)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }

  @Test("when a salvage loses the batch and the registration, then the history of the session's client settles it")
  func lostRegistration() async throws {
    let rig = try await rigInDoubt(tests: 0)
    try rig.store.salvage(without: "DELETE FROM batch; DELETE FROM registration")
    #expect(try await rig.sender().pass(.warm).sessionsSent == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

  @Test(
    "when a salvage loses every record of where fences were sent, then they are quarantined, and sent by force only",
    arguments: ["DELETE FROM session", "DELETE FROM session; DELETE FROM registration"])
  func lostAll(_ more: String) async throws {
    let rig = try await rigInDoubt(tests: 0)
    try rig.store.salvage(without: "DELETE FROM batch; \(more)")
    #expect(try await rig.sender().pass(.cold).sessionsQuarantined == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.sender().pass(.cold) == PassReport())
    #expect(try await rig.sender().pass(.quarantined).sessionsInDoubt == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.sender().pass(.quarantined, urgency: .forced).sessionsSent == 1)
    #expect(try await rig.tool.fences().count == 6)
    try await rig.finish()
  }

  @Test("when a salvage loses the rows of unsent batches, then one history request is enough, and all fences are sent")
  func lostUnsent() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [try await rig.test(), nil], fences: 3)
    _ = try rig.record(tests: [nil], fences: 3, started: 60)
    try await rig.store.outbox.makeBatches(of: [1, 2, 3], limit: 2, at: .rigStart)
    try rig.store.salvage(without: "DELETE FROM batch")
    #expect(try await rig.sender().pass(.cold).sessionsSent == 3)
    #expect(try await rig.requests("history") == 1)
    #expect(try await rig.holdsAllOnce(9))
    #expect(try await rig.sender().pass(.cold) == PassReport())
    #expect(try await rig.requests("history") == 1, "the result is stored")
    try await rig.finish()
  }

  // MARK: The client of a drive's test

  @Test(
    "when the device gets a new client UUID after a drive's test was created, then the history of the first UUID is read"
  )
  func otherClient() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [try await rig.test()], fences: 3)
    try await rig.store.database.write { try $0.execute(sql: "DELETE FROM registration") }
    try await rig.tool.setFault("drop-answer", on: "coverageResult", count: 1)
    #expect(try await rig.sender().pass(.drive(drive)).sessionsKept == 1)
    #expect(try await rig.sender().pass(.warm).sessionsSent == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }
}

extension Int {
  fileprivate var positive: Int { Swift.max(1, self) }
}

extension DriveStore {
  /// Deletes rows and a trigger, then repairs the store as after damage.
  fileprivate func salvage(without loss: String) throws {
    try database.writeWithoutTransaction { db in
      try db.execute(
        sql: "PRAGMA foreign_keys = OFF; \(loss); DROP TRIGGER fence_updated; PRAGMA foreign_keys = ON")
    }
    try repair()
  }

  /// Signs all rows that ``damage(_:)`` changes here: they count as written this way.
  fileprivate func signAll() throws {
    try database.write { db in
      for table in ["fence", "session", "batch"] {
        for id in try Int64.fetchAll(db, sql: "SELECT id FROM \(table)") { try RowChecksum.sign(table, id: id, db) }
      }
    }
  }

  /// Signs the fences again: their rows count as written this way.
  fileprivate func signFences() throws {
    try database.write { db in
      for id in try Int64.fetchAll(db, sql: "SELECT id FROM fence") { try RowChecksum.sign("fence", id: id, db) }
    }
  }
}
