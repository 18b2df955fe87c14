import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// The counts of unsent fences, beside a count of the fences themselves.
struct UnsentCountsTests {
  private let rig: OutboxStore

  init() throws { rig = try OutboxStore() }

  private func expectRightCounts(_ step: String = "") async throws {
    let (kept, counted) = try await rig.store.database.read { db in
      (
        try Row.fetchAll(db, sql: "SELECT session_id, batch_id, fences FROM unsent ORDER BY 1, 2").map { "\($0)" },
        try Row.fetchAll(
          db,
          sql: """
            SELECT session_id, ifnull(batch_id, 0) AS batch_id, count(*) AS fences FROM fence
            WHERE submittable AND submitted_at IS NULL GROUP BY 1, 2 ORDER BY 1, 2
            """
        ).map { "\($0)" }
      )
    }
    #expect(kept == counted, "\(step)")
    let data = try rig.reader.unsentData()
    let sessions = try rig.reader.unsentSessions().filter { $0.session.finalized != nil && !$0.isDamaged }
    #expect(data.fences == sessions.reduce(0) { $0 + $1.waitingFences }, "\(step)")
    #expect(data.quarantined == sessions.reduce(0) { $0 + $1.quarantinedFences }, "\(step)")
    #expect(data.sessions == sessions.count(where: \.isWaiting), "\(step)")
    let began = sessions.filter(\.isWaiting).map { $0.driveStarted + $0.session.started }
    #expect(data.oldest == began.min(), "\(step)")
  }

  @Test("when fences go their way through batches, then the counts follow each step")
  func lives() async throws {
    let session = try rig.session(
      fences: OutboxStore.fences(5) + [.sample(number: 5, entered: 90, isSubmittable: false)])
    try await expectRightCounts("recorded")
    #expect(try rig.reader.unsentSessions().map(\.waitingFences) == [5])
    let batches = try await rig.batches(of: session, limit: 2)
    #expect(batches.map(\.fences) == [2, 2, 1])
    try await expectRightCounts("in batches")
    try await rig.outbox.quarantine(batch: batches[0], reason: "refused", at: .sampleStart)
    let waiting = try #require(try rig.reader.unsentSessions().first)
    #expect((waiting.waitingFences, waiting.quarantinedFences) == (3, 2))
    try await rig.outbox.markSubmitted(batch: batches[1].id, at: .sampleStart)
    try await expectRightCounts("sent")
    _ = try await rig.outbox.split(batch: batches[0])
    try await expectRightCounts("split")
    try await rig.outbox.reopen(
      batches: try await rig.all(of: session).filter { $0.state == .waiting }, at: .sampleStart)
    try await expectRightCounts("reopened")
    _ = try await rig.store.forget(session: session) { _, _ in }
    try await expectRightCounts("forgotten")
    #expect(try await rig.value("SELECT count(*) FROM unsent") == 0)
  }

  @Test("when any rows change in any order, then the counts are those of the fences")
  func anyOrder() async throws {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<3 { try rig.session(fences: OutboxStore.fences(6)) }
    for session in 1...2 { try await rig.batches(of: Int64(session), limit: 3) }
    try await rig.store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
    for step in 0..<200 {
      let fence = Int.random(in: 1...18, using: &random)
      let values = ["1", "2", "NULL", "0", "5"]
      let value = values[Int.random(in: 0..<values.count, using: &random)]
      let changes = [
        "UPDATE fence SET submitted_at = \(value) WHERE id = \(fence)",
        "UPDATE fence SET batch_id = \(value) WHERE id = \(fence)",
        "UPDATE fence SET submittable = \(value == "NULL" ? "1" : value) WHERE id = \(fence)",
        "UPDATE fence SET session_id = \(value == "NULL" ? "3" : value) WHERE id = \(fence)",
        "UPDATE fence SET pings = pings + 1 WHERE id > \(fence)", "DELETE FROM fence WHERE id = \(fence)",
        "DELETE FROM batch WHERE id = \(value)",
      ]
      // Deletions are rare, so that fences are left.
      let kind = Int.random(in: 0..<40, using: &random)
      try await rig.change(changes[kind < 38 ? kind % 5 : kind - 33])
      try await expectRightCounts("step \(step)")
    }
  }

  @Test("when damage has taken the counts, then sessions are found as before, and so are batches with their fences")
  func damaged() async throws {
    let session = try rig.session(fences: OutboxStore.fences(4))
    try await rig.batches(of: session, limit: 3)
    try await rig.change("DELETE FROM unsent")
    #expect(try rig.reader.unsentSessions().map(\.waitingFences) == [4])
    #expect(try await rig.all(of: session).map(\.fences) == [3, 1])
  }

  @Test(
    "when counts are damaged, then no session is skipped, and the next inspection counts again",
    arguments: [
      "UPDATE unsent SET fences = 0", "UPDATE unsent SET fences = -3", "UPDATE unsent SET fences = 1 << 40",
      "UPDATE unsent SET fences = 'x'", "UPDATE unsent SET batch_id = batch_id + 7",
      "UPDATE unsent SET session_id = 9", "INSERT INTO unsent VALUES (5, 5, 5)", "DELETE FROM unsent",
    ])
  func mended(_ damage: String) async throws {
    let session = try rig.session(fences: OutboxStore.fences(4))
    try await rig.batches(of: session, limit: 3)
    try await rig.change(damage)
    #expect(try rig.reader.unsentSessions().allSatisfy { $0.isWaiting })
    #expect(try await rig.store.inspection.damagedRows() == 0)
    try await expectRightCounts()
  }

  @Test("when hundreds of batches wait, then neither the status nor the queue reads their fences")
  func cost() async throws {
    for _ in 0..<3 { try await rig.batches(of: try rig.session(fences: OutboxStore.fences(40)), limit: 10) }
    let queries = [
      "SELECT \(StoredSession.columnsWithUnsentCounted) WHERE session.id IN (SELECT id FROM session_of_unsent_fences)",
      "SELECT \(Batch.columns) WHERE batch.session_id = 1 AND batch.state IN ('waiting')",
    ]
    for query in queries {
      let plan = try await rig.store.database.read { db in
        try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(query)").map { $0["detail"] as String }
      }
      #expect(!plan.contains { $0.hasPrefix("SCAN fence") || $0.hasPrefix("SCAN own") }, "\(plan)")
    }
  }
}
