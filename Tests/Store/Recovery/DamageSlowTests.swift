import Coverage
import Foundation
import GRDB
import Logging
import TestSupport
import Testing

@testable import Store

/// Damage to the store's file, its write-ahead log, the log's index and the drive logs, alone or together.
struct DamageSlowTests {
  private let site: Site

  init() throws { site = try Site() }

  /// 1,000 with `STATE_DAMAGES=1000`.
  private static let damages = ProcessInfo.processInfo.environment["STATE_DAMAGES"].flatMap { Int($0) } ?? 24

  @Test(
    "when files are damaged at random, then no start fails, and no fence is altered, duplicated or sent again unasked"
  )
  func atRandom() async throws {
    let state = try await site.fill()
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    var tally = Tally()
    for number in 0..<Self.damages {
      let damage = Damage.random(number, state, &random)
      try site.write(damage.files)
      let store = try site.open()
      _ = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).run(at: Site.now)
      // As a cold pass does.
      try await store.drives.endInterrupted()
      _ = try await store.orphans.adopt(lastSeenBefore: Site.now)
      _ = try await store.lostBatches.followFences()
      _ = try await store.lostBatches.doubtDamaged()
      let found = try await site.content(of: store)
      #expect(found.altered(in: site).isEmpty, "\(damage.name)")
      #expect(found.fences.count == Set(found.fences).count, "\(damage.name)")
      #expect(found.unaskedThoughSent(in: site) == 0, "\(damage.name)")
      #expect(try await site.stuck(in: store) == 0, "\(damage.name)")
      tally.count(damage, found: found.fences.count, of: site.fences.count)
      // Closed before the next damage replaces the files.
      try store.database.close()
    }
    tally.print()
    #expect(tally.share(ofSingle: true) >= 0.999)
  }

  @Test(
    "when files of a large store are damaged at random, then no start fails, and a pass and the next start alter no fence"
  )
  func atRandomInLargeStore() async throws {
    let state = try await site.fill()
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    var tally = Tally()
    for number in 0..<Self.damages {
      let damage = Damage.random(number, state, &random)
      try site.write(damage.files)
      try await passAfterDamage(damage)
      let found = try await restoredByNextStart(damage)
      tally.count(damage, found: found, of: site.fences.count)
    }
    tally.print()
    #expect(tally.share(ofSingle: true) >= 0.999)
  }

  private func passAfterDamage(_ damage: Damage) async throws {
    let store = try site.open(isLarge: true)
    _ = await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).attempt(at: Site.now)
    _ = try await store.drives.next()
    // As a cold pass does.
    try await store.checkFile()
    if store.recoveryNeed == .rolledBack { _ = try await store.lostBatches.doubtUnsent() }
    try await store.drives.endInterrupted()
    _ = try await store.orphans.adopt(lastSeenBefore: Site.now)
    _ = try await store.lostBatches.followFences()
    _ = try await store.lostBatches.doubtDamaged()
    _ = try await store.inspection.damagedRows()
    try await expectIntact(store, damage)
    try store.database.close()
  }

  /// - Returns: The number of fences.
  private func restoredByNextStart(_ damage: Damage) async throws -> Int {
    let store = try site.open(isLarge: true)
    _ = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).run(at: Site.now)
    try await expectIntact(store, damage)
    let count = try await site.content(of: store).fences.count
    try store.database.close()
    return count
  }

  private func expectIntact(_ store: DriveStore, _ damage: Damage) async throws {
    let found = try await site.content(of: store)
    #expect(found.altered(in: site).isEmpty, "\(damage.name)")
    #expect(found.fences.count == Set(found.fences).count, "\(damage.name)")
    #expect(found.unaskedThoughSent(in: site) == 0, "\(damage.name)")
  }

  // MARK: One by one

  private func start(_ files: [String: Data]) async throws -> (
    content: Content, outcome: Recovery.Outcome, lines: [String]
  ) {
    try site.write(files)
    let store = try site.open()
    let outcome = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).run(at: Site.now)
    return (try await site.content(of: store), outcome, site.lines.all)
  }

  @Test(
    "when a file of the store is removed, then a line reports it, all fences are restored, and none is sent again",
    arguments: [
      ["coverage.sqlite"], ["coverage.sqlite-wal"], ["coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm"],
    ])
  func removed(_ names: [String]) async throws {
    var files = try await site.fill()
    for name in names { files[name] = nil }
    let start = try await start(files)
    #expect(start.content.fences.count == site.fences.count)
    #expect(start.content.altered(in: site).isEmpty && start.content.unaskedThoughSent(in: site) == 0)
    #expect(!start.lines.isEmpty)
  }

  @Test(
    "when a bit in the write-ahead log is flipped, then the drive logs restore the transactions after it",
    arguments: [0.1, 0.4, 0.8])
  func flippedBit(_ place: Double) async throws {
    var files = try await site.fill()
    let log = try #require(files["coverage.sqlite-wal"])
    files["coverage.sqlite-wal"]?[Int(Double(log.count) * place)] ^= 4
    let start = try await start(files)
    #expect(start.content.fences.count == site.fences.count)
    #expect(start.content.unaskedThoughSent(in: site) == 0)
    #expect(start.lines.contains { $0.contains("is damaged or missing: the latest writes are lost") })
  }

  @Test(
    "when pages that lead to the others are damaged, then the drive logs restore all fences, and none is sent again",
    arguments: [0..<1, 1..<30])
  func leadingPages(_ pages: Range<Int>) async throws {
    var files = try await site.fill()
    for page in pages {
      files["coverage.sqlite"]?.replaceSubrange(page * 4096..<page * 4096 + 512, with: Data(count: 512))
    }
    let start = try await start(files)
    #expect(start.content.fences.count == site.fences.count)
    #expect(start.content.altered(in: site).isEmpty && start.content.unaskedThoughSent(in: site) == 0)
  }

  @Test(
    "when a lost drive is too old to be sent, then the fences that the server has are restored, and no others; a wrong time of the file alone leaves none out",
    arguments: [8 * 86_400, 7200])
  func old(_ age: Int) async throws {
    _ = try await site.fill()
    let store = try site.open()
    let road = try Road(fences: 30, started: .sampleStart.later(by: .seconds(-age)), test: "OLD", start: 0.7)
    let restored = age == 7200 ? road.ended.count : 2
    let path = "\(store.directory.driveLogs)/old.jsonl"
    try road.log.write(to: URL(fileURLWithPath: path))
    try DriveLogWriter.note(
      AcceptedFences(testUUID: "OLD", anchor: .sampleStart, accepted: .sampleStart, fences: [2, 3]), in: path)
    StateDirectory.setModified(path, to: .earliestTrusted)
    let recovery = Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger)
    #expect(try await recovery.run(at: Site.now).recovered == 0, "nothing is damaged")
    try store.noteRollback()
    #expect(try await recovery.run(at: Site.now).recovered == restored)
    let session = try #require(try StoreReader(store).sessions().first { $0.session.testUUID == "OLD" })
    #expect(session.submittedFences == 2 && session.fences == restored)
  }

  @Test(
    "when the session table is lost, then batches belong to the sessions from the drive logs, and no fence is stuck"
  )
  func lostSessions() async throws {
    _ = try await site.fill()
    let store = try site.open()
    try await store.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
    try await store.damage("DELETE FROM session; UPDATE sqlite_sequence SET seq = 20 WHERE name = 'session'")
    try RecoveryMark(store.directory).set(.damaged)
    let outcome = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).run(at: Site.now)
    #expect(outcome == Recovery.Outcome(), "no fence was missing")
    let reader = StoreReader(store)
    #expect(try reader.sessions().count == 4 && reader.orphans() == 0)
    let sessions = try reader.sessions().map(\.id)
    let batches = try await store.outbox.batches(of: sessions, in: [.waiting, .sending])
    #expect(batches.map(\.state) == [.sending, .waiting, .waiting])
    #expect(try await site.stuck(in: store) == 0)
    #expect(try await site.content(of: store).unaskedThoughSent(in: site) == 0)
  }

  @Test(
    "when damage loses all fences of an ended drive, or its last ones, then they are restored from the drive log",
    arguments: ["drive_id = 3", "drive_id = 1", "drive_id = 1 AND number >= 20", "drive_id = 2 AND number = 29"])
  func lostEnd(_ lost: String) async throws {
    _ = try await site.fill()
    let store = try site.open()
    // Together with the batches, which would show that fences are missing.
    try await store.damage("DELETE FROM fence WHERE \(lost); DELETE FROM batch")
    try RecoveryMark(store.directory).set(.damaged)
    _ = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).run(at: Site.now)
    let found = try await site.content(of: store)
    #expect(found.fences.count == site.fences.count && found.altered(in: site).isEmpty)
    #expect(try await site.stuck(in: store) == 0)
  }

  @Test("when the store is intact after a kill, then nothing is recovered, and nothing is logged")
  func whole() async throws {
    let start = try await start(try await site.fill())
    #expect(start.content.fences.count == site.fences.count)
    #expect(
      start.content.unaskedThoughSent(in: site) == 0,
      "\(start.content.sentAgain.map { ($0.number, $0.centre.latitude) })")
    #expect(start.outcome == Recovery.Outcome())
    #expect(start.lines.isEmpty)
  }

  @Test("when rows of fences are damaged, then they are restored from the drive log")
  func damagedRows() async throws {
    _ = try await site.fill()
    let store = try site.open()
    try await store.damage("UPDATE fence SET pings = pings + 1 WHERE number IN (2, 5)")
    let outcome = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).run(at: Site.now)
    #expect(outcome.recovered == 8)
    #expect(try await site.content(of: store).altered(in: site).isEmpty)
    #expect(try StoreReader(store).damagedRows() == 0)
    let sessions = try StoreReader(store).sessions()
    #expect(sessions[0].waitingFences == 0, "they were in the batch that the server has")
    let marked = try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(recovered_at) FROM fence") }
    #expect(marked == 8)
  }

  @Test("when damage loses fences and their sent batches, then no fence is sent again before the server is asked")
  func lostWithTheirBatches() async throws {
    let store = try site.open()
    let road = try Road(fences: 30, test: nil)
    let path = "\(store.directory.driveLogs)/0.jsonl"
    try road.log.write(to: URL(fileURLWithPath: path))
    var recorder = try DriveRecorder(store, started: road.header.started, log: path)
    try recorder.save(sessions: road.engine.sessions, fences: road.ended, seen: road.engine.now)
    let stopped = try #require(road.engine.stopped)
    try recorder.end(at: stopped.at, reason: stopped.reason)
    try await store.outbox.makeBatches(of: [1], limit: 10, at: Site.now)
    for batch in try await store.outbox.batches(of: [1], in: [.waiting]) {
      let test = Batch.Test(uuid: "X\(batch.id)", anchor: Site.now)
      try await store.outbox.anchor(batch: batch.id, test: test, loopUUID: nil, client: "C")
      try await store.outbox.beginSending(batch: batch.id, fences: batch.fences, client: "C", at: Site.now)
      try await store.outbox.markSubmitted(batch: batch.id, at: Site.now)
    }
    // As a salvage leaves the store when a page of fences and the page of batches are lost.
    try await store.damage("DELETE FROM fence WHERE number < 20; DELETE FROM batch WHERE id < 3")
    try RecoveryMark(store.directory).set(.damaged)
    let outcome = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: site.logger).run(at: Site.now)
    #expect(outcome.recovered == 20)
    let unasked = try await store.database.read { db in
      try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM fence LEFT JOIN batch ON batch.id = batch_id
          WHERE fence.submitted_at IS NULL AND (batch_id IS NULL OR batch.state <> 'sending')
          """)
    }
    #expect(unasked == 0)
  }
}

/// The fences in the store after a start.
struct Content {
  let fences: [Fence]
  let sentAgain: [Fence]

  /// Fences whose figures differ from the measured ones.
  func altered(in site: Site) -> [Fence] {
    let good = Set(site.fences)
    return fences.filter { !good.contains($0) }
  }

  /// Fences that the server has and that would be sent again without asking it.
  func unaskedThoughSent(in site: Site) -> Int { sentAgain.count { site.sent.contains($0) } }
}
