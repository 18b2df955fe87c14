import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Changes that submitting makes in the store.
struct BatchTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private var reader: StoreReader { StoreReader(store) }

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private func session(
    test: String? = "T1", fences: Int = 5, entered: Double = 10, finalized: Bool = true
  ) throws -> StoredSession {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [
        Session(
          number: 0, testUUID: test, started: .start, anchor: test.map { _ in .seconds(1) },
          finalized: finalized ? .seconds(100) : nil)
      ],
      fences: (0..<fences).map { .sample(number: $0, entered: entered + Double($0) * 4) }, seen: .seconds(100))
    return try #require(try reader.sessions().last)
  }

  private func batches(
    of session: StoredSession, limit: Int = 400, _ states: [Batch.State] = [.waiting]
  ) async throws -> [Batch] {
    try await store.outbox.makeBatches(of: [session.id], limit: limit, at: .sampleStart)
    return try await store.outbox.batches(of: [session.id], in: states)
  }

  private func now(_ session: StoredSession) throws -> StoredSession {
    try #require(try reader.session(id: session.id))
  }

  @Test(
    "when batches are made, then the first has the session's test, no fence is in two, and doing it again changes nothing"
  )
  func making() async throws {
    let session = try session(fences: 5)
    let made = try await batches(of: session, limit: 2)
    #expect(made.map(\.fences) == [2, 2, 1])
    #expect(made.map(\.test?.uuid) == ["T1", nil, nil])
    #expect(made[0].test?.anchor == .sampleStart.later(by: .seconds(1)))
    #expect(try made.flatMap { try reader.fences(of: $0).map(\.number) } == [0, 1, 2, 3, 4])
    #expect(try await batches(of: session, limit: 2) == made)
  }

  @Test("when sessions are sent, refused, touched by Wi-Fi or being recorded, then a pass reads those that it may send")
  func unsent() async throws {
    let sent = try session(test: "T1")
    for batch in try await batches(of: sent) { try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart) }
    let refused = try session(test: "T2")
    for batch in try await batches(of: refused) {
      try await store.outbox.quarantine(batch: batch, reason: "no", at: .sampleStart)
    }
    let waiting = try session(test: "T3")
    let touched = try session(test: "T4")
    try await store.database.write {
      try $0.execute(sql: "UPDATE fence SET submittable = 0 WHERE session_id = ?", arguments: [touched.id])
    }
    let running = try session(test: "T5", fences: 7)
    #expect(try reader.unsentSessions(except: running.drive) == [try now(refused), try now(waiting)])
    #expect(try reader.unsentSessions() == [try now(refused), try now(waiting), try now(running)])
    #expect(try reader.fencesToSend(fromDrive: running.drive) == 7)
    #expect(try reader.fencesToSend(fromDrive: refused.drive) == 12, "of three drives, without the refused fences")
  }

  @Test(
    "when the server has accepted all batches of a session, then it is submitted, and its fences stay, marked as submitted"
  )
  func submitted() async throws {
    let session = try session(fences: 3)
    #expect(session.isWaiting)
    let made = try await batches(of: session, limit: 2)
    try await store.outbox.anchor(
      batch: made[1].id, test: .init(uuid: "T2", anchor: .sampleStart), loopUUID: nil, client: "C")
    try await store.outbox.markSubmitted(batch: made[0].id, at: .sampleStart)
    #expect(try now(session).state(isWriterAlive: false) == .pending)
    #expect(try now(session).waitingFences == 1)
    try await store.outbox.markSubmitted(batch: made[1].id, at: .sampleStart)
    let after = try now(session)
    #expect(after.state(isWriterAlive: false) == .submitted)
    #expect(!after.isWaiting)
    #expect(after.session.testUUID == "T1")
    let fences = try reader.fences(of: after)
    #expect(fences.map(\.submitted) == [.sampleStart, .sampleStart, .sampleStart])
    #expect(
      fences.map(\.session.session.testUUID) == ["T1", "T1", "T2"], "each fence has the test that it was sent to")
    #expect(fences.map(\.session.session.anchor) == [.seconds(1), .seconds(1), .start])
  }

  @Test("when a session gets its first test later, or a replacement, then it uses that test")
  func anchoring() async throws {
    let session = try session(test: nil)
    let batch = try #require(try await batches(of: session).first)
    try await store.outbox.anchor(
      batch: batch.id, test: .init(uuid: "T8", anchor: .sampleStart), loopUUID: "L8", client: "C")
    #expect(try now(session).session.testUUID == "T8")
    #expect(try now(session).loopUUID == "L8")
    try await store.outbox.anchor(
      batch: batch.id, test: .init(uuid: "T9", anchor: .sampleStart.later(by: .seconds(5))), loopUUID: "L9", client: "C"
    )
    #expect(try now(session).session.testUUID == "T9")
    #expect(try now(session).session.anchor == .seconds(5))
  }

  @Test(
    "when a batch is split, then each fence is in one half, each half waits for a test of its own, down to one fence")
  func splitting() async throws {
    let session = try session(fences: 5)
    var queue = try await batches(of: session)
    var singles: [Int] = []
    while let batch = queue.popLast() {
      guard batch.fences > 1 else {
        singles += try reader.fences(of: batch).map(\.number)
        continue
      }
      let parts = try await store.outbox.split(batch: batch)
      #expect(parts.map(\.fences) == [(batch.fences + 1) / 2, batch.fences / 2])
      #expect(parts.allSatisfy { $0.test == nil && $0.state == .waiting })
      queue += parts
    }
    #expect(singles.sorted() == [0, 1, 2, 3, 4])
  }

  @Test("when the server certainly did not accept a batch, then it waits again, and keeps the record of its sending")
  func notTaken() async throws {
    let session = try session(fences: 3)
    let batch = try #require(try await batches(of: session).first)
    try await store.outbox.beginSending(batch: batch.id, fences: 3, client: "C", at: .sampleStart)
    try await store.outbox.noteTrouble(batch: batch.id, isAnswer: true)
    try await store.outbox.release(batch: batch.id)
    let after = try #require(try await batches(of: session).first)
    #expect((after.id, after.state, after.attempt, after.troubles) == (batch.id, .waiting, 1, 1))
    #expect((after.sent, after.sentFences) == (.sampleStart, 3))
  }

  @Test("when a batch is refused, then the session says why, until it is reopened; its test is not used again")
  func quarantine() async throws {
    let session = try session(fences: 3)
    let batch = try #require(try await batches(of: session).first)
    try await store.outbox.quarantine(batch: batch, reason: "no", at: .sampleStart)
    #expect(try now(session).state(isWriterAlive: false) == .quarantined)
    #expect(try now(session).quarantineReason == "no")
    #expect(try now(session).quarantinedFences == 3)
    #expect(try await batches(of: session).isEmpty)
    try await store.outbox.reopen(batches: [batch], at: .sampleStart)
    #expect(try now(session).state(isWriterAlive: false) == .pending)
    #expect(try now(session).quarantineReason == nil)
    #expect(try await batches(of: session).map(\.test) == [nil])
  }

  @Test(
    "when a batch is quarantined because the server may have it, then its row says so; that of a refused one does not")
  func quarantineInDoubt() async throws {
    let session = try session(fences: 3)
    let batch = try #require(try await batches(of: session).first)
    for doubt in [nil, "until later"] {
      try await store.outbox.beginSending(batch: batch.id, fences: 3, client: "C", doubt: doubt, at: .sampleStart)
      for mayHaveArrived in [true, false] {
        try await store.outbox.quarantine(
          batch: batch, reason: "no", mayHaveArrived: mayHaveArrived, at: .sampleStart)
        let found = try await store.outbox.batches(of: [batch.session], in: [.quarantined])
        #expect(found.map(\.isQuarantinedInDoubt) == [mayHaveArrived])
      }
    }
  }

  @Test("when a position is damaged, then its fence is quarantined and the others can be sent")
  func damage() async throws {
    let session = try session(fences: 3)
    try await store.database.write { try $0.execute(sql: "UPDATE fence SET latitude = 480 WHERE number = 1") }
    let made = try await batches(of: session)
    #expect(made.map(\.fences) == [2])
    #expect(try now(session).quarantinedFences == 1)
    #expect(try now(session).quarantineReason == "its position is damaged in the store")
  }

  @Test("when the server gives a test that it gave before, then a second session or batch does not get it")
  func testTwice() async throws {
    _ = try session(test: "T1")
    let second = try session(test: "T1", fences: 2)
    let made = try await batches(of: second, limit: 1)
    #expect(second.fences == 2 && made.map(\.test) == [nil, nil])
    let test = Batch.Test(uuid: "T2", anchor: .sampleStart)
    try await store.outbox.anchor(batch: made[1].id, test: test, loopUUID: nil, client: "C")
    for test in [test, .init(uuid: "T1", anchor: .sampleStart)] {
      await #expect(throws: StoreError.self) {
        try await store.outbox.anchor(batch: made[0].id, test: test, loopUUID: nil, client: "C")
      }
    }
  }

  // MARK: Deletion

  private let day: Duration = .seconds(86_400)

  private func cleanUp(after days: Int, except running: Int64? = nil) async throws -> Deleted {
    try await store.cleanup.run(
      Retention(), now: .sampleStart.later(by: day * days), agreement: .agrees, except: running)
  }

  @Test(
    "when fences are older than a week, then they are deleted unsent with their session, unless it is unfinished or running"
  )
  func expiry() async throws {
    let unfinished = try session(test: "T1", finalized: false)
    let old = try session(test: "T3")
    let running = try session(test: "T2")
    #expect(try await cleanUp(after: 6, except: running.drive).isNothing)
    let deleted = try await cleanUp(after: 8, except: running.drive)
    #expect(deleted.expired == 5)
    #expect(deleted.sessions == 1)
    #expect(try reader.sessions().map(\.id) == [unfinished.id, running.id])
    #expect(try reader.sessions().map(\.fences) == [5, 5])
    #expect(try reader.session(id: old.id) == nil)
  }

  @Test("when some fences of a session are recent, then those stay")
  func partlyExpired() async throws {
    let session = try session(fences: 5)
    try await store.database.write { db in
      try db.execute(
        sql: "UPDATE fence SET last_seen_at = last_seen_at - ? WHERE number < 2", arguments: [(day * 8).inMicroseconds])
    }
    #expect(try await cleanUp(after: 1).expired == 2)
    #expect(try now(session).fences == 3)
  }

  @Test(
    "when the clock was wrong by a year when a drive was recorded, then what was sent of it goes after a month",
    arguments: [2, 4, 400])
  func sentOfTheFuture(_ limit: Int) async throws {
    let session = try session(fences: 4)
    let made = try await batches(of: session, limit: limit)
    try await store.outbox.markSubmitted(batch: made[0].id, at: .sampleStart)
    try await store.database.write { db in
      for (table, columns) in [
        ("drive", ["started_at"]), ("session", ["started_at", "anchor_at", "finalized_at"]),
        ("fence", ["entered_at", "exited_at", "last_seen_at"]),
      ] {
        let moved = columns.map { "\($0) = \($0) + \((day * 365).inMicroseconds)" }.joined(separator: ", ")
        try db.execute(sql: "UPDATE \(table) SET \(moved)")
      }
    }
    #expect(try await cleanUp(after: 29).isNothing)
    #expect(try await cleanUp(after: 31).sentLongAgo == min(limit, 4))
    #expect(try reader.session(id: session.id)?.fences == (limit < 4 ? 4 - limit : nil))
  }

  @Test("when fences were sent, refused or touched by Wi-Fi, then they stay for a month")
  func keeping() async throws {
    let sent = try session(test: "T1")
    let refused = try session(test: "T2")
    for batch in try await batches(of: sent) { try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart) }
    for batch in try await batches(of: refused) {
      try await store.outbox.quarantine(batch: batch, reason: "no", at: .sampleStart)
    }
    #expect(try await cleanUp(after: 29).isNothing)
    let deleted = try await cleanUp(after: 31)
    #expect(deleted.sentLongAgo == 10)
    #expect(deleted.sessions == 2)
    #expect(try reader.sessions().isEmpty)
    let left = try await store.database.read { db in
      try ["batch", "fence", "session", "drive"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1 }
    }
    #expect(left[1...2] == [0, 0])
    #expect(left[0] == 0, "batches go with their sessions")
  }

  @Test("when a finished session has no fences, then it is deleted at once")
  func empty() async throws {
    _ = try session(test: "T1", fences: 0)
    let unfinished = try session(test: "T2", fences: 0, finalized: false)
    #expect(try await cleanUp(after: 0).sessions == 1)
    #expect(try reader.sessions().map(\.id) == [unfinished.id])
  }

  @Test("when a session is missing and its fences have future times, then they are adopted at once: a clock was wrong")
  func adoptionOfTheFuture() async throws {
    _ = try session(fences: 3)
    try await store.database.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM session; PRAGMA foreign_keys = ON")
    }
    let past = WallTime.sampleStart.later(by: .zero - day * 2)
    #expect(try await store.orphans.adopt(lastSeenBefore: past) == 0)
    #expect(try await store.orphans.adopt(lastSeenBefore: past, orAfter: past.later(by: day)) == 3)
  }

  @Test("when a session with sent and unsent fences is missing, then only the unsent ones wait")
  func sentOrphans() async throws {
    _ = try session(fences: 3)
    try await store.database.writeWithoutTransaction { db in
      try db.execute(sql: "UPDATE fence SET submitted_at = 1 WHERE number = 0")
      try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM session; PRAGMA foreign_keys = ON")
    }
    #expect(try reader.orphans() == 3 && reader.unsentOrphans() == 2)
  }

  @Test("when a session is missing, then it is restored once its fences are old enough, even without their drive")
  func adoption() async throws {
    let session = try session(fences: 3)
    try await store.database.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM session; DELETE FROM drive; PRAGMA foreign_keys = ON")
    }
    #expect(try reader.orphans() == 3 && reader.unsentOrphans() == 3)
    #expect(try reader.unsentOrphans(except: session.drive) == 0)
    #expect(try await store.orphans.adopt(lastSeenBefore: .sampleStart) == 0)
    #expect(try await store.orphans.adopt(lastSeenBefore: .sampleStart, orAfter: .sampleStart.later(by: day)) == 0)
    #expect(try await store.orphans.adopt(lastSeenBefore: .sampleStart.later(by: day), except: session.drive) == 0)
    #expect(try await store.orphans.adopt(lastSeenBefore: .sampleStart.later(by: day)) == 3)
    #expect(try reader.orphans() == 0)
    let adopted = try now(session)
    #expect(adopted.session.testUUID == nil)
    #expect(adopted.session.finalized != nil)
    #expect(
      try reader.fences(of: adopted).map { ($0.session.driveStarted + $0.fence.entered).iso8601 }.first
        == "2026-11-20T10:00:10.000Z")
  }

  @Test("when a session is forgotten, then no byte of it is left in the files, and the other sessions stay")
  func forgetting() async throws {
    let kept = try session(test: "test-that-stays-here", fences: 2)
    let forgotten = try session(test: "test-that-is-forgotten", fences: 300)
    for batch in try await batches(of: forgotten) {
      try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    }
    #expect(try files().contains("test-that-is-forgotten"))
    let result = try await store.forget(session: forgotten.id) { _, _ in }
    #expect(result == Forgotten(session: forgotten.id, fences: 300, deletedLog: nil, keptLog: nil, damagedStores: []))
    #expect(try !files().contains("test-that-is-forgotten"))
    #expect(try files().contains("test-that-stays-here"))
    #expect(try reader.sessions().map(\.id) == [kept.id])
    #expect(try await store.forget(session: forgotten.id) { _, _ in } == nil)
  }

  /// Everything in the database's files, as far as it is text.
  private func files() throws -> String {
    let folder = folder.file("state")
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains("sqlite") }.map {
      String(decoding: FileManager.default.contents(atPath: folder + "/" + $0) ?? Data(), as: UTF8.self)
    }.joined()
  }
}
