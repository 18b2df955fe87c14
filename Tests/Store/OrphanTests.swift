import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Fences whose session or drive is damaged.
struct OrphanTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private var reader: StoreReader { StoreReader(store) }

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
    var recorder = try DriveRecorder(store, started: .sampleStart, log: "a log", link: "modem")
    try recorder.save(
      sessions: [Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(1), finalized: .seconds(100))],
      fences: (0..<3).map { .sample(number: $0, entered: 10 + Double($0) * 4) }, seen: .seconds(100))
    try recorder.end(at: .seconds(100), reason: .user)
  }

  private func session() throws -> StoredSession { try #require(try reader.sessions().first) }

  /// Adopts with a limit before any of the fences: only fences of a missing session would wait.
  private func adopt(except running: Int64? = nil) async throws -> Int {
    try await store.orphans.adopt(lastSeenBefore: .sampleStart, except: running)
  }

  private static let damages = [
    "session SET loop_uuid = 'L2'", "session SET finalized_at = NULL", "session SET drive_id = 1, number = 7",
    "drive SET log = 'b log'", "drive SET started_at = 9223372036854775807",
    "drive SET ended_at = NULL; UPDATE session SET anchor_at = 5",
  ]

  @Test(
    "when a session or a drive is damaged, then a cold pass repairs it, and its fences can be sent",
    arguments: damages)
  func mended(_ change: String) async throws {
    try await store.damage("UPDATE \(change)")
    #expect(try session().isDamaged && !session().isWaiting && session().damagedFences == 0)
    #expect(try await adopt() == 3)
    #expect(try reader.damagedRows() == 0)
    #expect(try session().isWaiting && session().session.finalized != nil)
    #expect(try reader.fences(of: session()).map(\.fence.number) == [0, 1, 2])
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    let batch = try #require(try await store.outbox.batches(of: [1], in: [.waiting]).first)
    #expect(batch.fences == 3)
    #expect(
      batch.test?.uuid == (change.contains("session") ? nil : "T1"), "the test of a damaged row is not used")
    #expect(try await adopt() == 0, "once is enough")
  }

  @Test("when a session of the running drive is damaged, then it is left alone", arguments: damages)
  func running(_ change: String) async throws {
    try await store.damage("UPDATE \(change)")
    let before = try session()
    #expect(try await adopt(except: 1) == 0)
    #expect(try session() == before)
  }

  @Test(
    "when part of a damaged session was sent, and part may have been, then both states stay, and nothing is sent twice")
  func sendings() async throws {
    try await store.outbox.makeBatches(of: [1], limit: 1, at: .sampleStart)
    let made = try await store.outbox.batches(of: [1], in: [.waiting])
    try await store.outbox.markSubmitted(batch: made[0].id, at: .sampleStart)
    try await store.outbox.anchor(
      batch: made[1].id, test: .init(uuid: "T2", anchor: .sampleStart), loopUUID: nil, client: "C")
    try await store.outbox.beginSending(batch: made[1].id, fences: 1, client: "C", at: .sampleStart)
    try await store.damage("UPDATE session SET loop_uuid = 'L2'; UPDATE drive SET log = 'b log'")
    #expect(try await adopt() == 3)
    try await store.outbox.makeBatches(of: [1], limit: 1, at: .sampleStart)
    let after = try await store.outbox.batches(of: [1], in: [.submitted, .sending, .waiting])
    #expect(after.map(\.state) == [.submitted, .sending, .waiting])
    #expect(after.map(\.test?.uuid) == ["T1", "T2", nil], "the batch in doubt keeps its own test")
    #expect(try session().submittedFences == 1 && session().waitingFences == 2)
  }

  @Test("when damaged sessions have the greatest possible numbers, then each session still gets a number")
  func greatestNumber() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: (0..<2).map { Session(number: $0, started: .start, finalized: .seconds(100)) },
      fences: (0..<2).map { .sample(number: $0, session: $0) }, seen: .seconds(100))
    try await store.damage(
      "UPDATE session SET number = 9223372036854775807 - number, loop_uuid = 'x' WHERE drive_id = 2")
    #expect(try await adopt() == 2)
    #expect(try reader.damagedRows() == 0)
    #expect(try reader.sessions().map(\.fences) == [3, 1, 1])
  }

  @Test("when a drive's clock is set and some of its rows are damaged, then the times of the intact rows still move")
  func movedBesideDamage() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, boot: ("B", .zero), log: nil)
    try recorder.save(
      sessions: (0..<2).map { Session(number: $0, started: .start, finalized: .seconds(100)) },
      fences: (0..<2).map { .sample(number: $0, session: $0) }, seen: .seconds(100))
    try await store.damage(
      "UPDATE session SET finalized_at = 9223372036854775807 WHERE id = 2; UPDATE fence SET exited_at = 9223372036854775807 WHERE id = 4"
    )
    recorder.started = .sampleStart.later(by: .seconds(60))
    try recorder.save(sessions: [], fences: [], seen: .seconds(100))
    try recorder.end(at: .seconds(100), reason: .user)
    let settled = try await store.clockSettlement.settle(
      bootID: "B", sinceBoot: .seconds(200), now: .sampleStart.later(by: .seconds(320)))
    #expect(settled.corrected == [2])
    let session = try #require(try reader.session(id: 3))
    #expect(session.driveStarted == .sampleStart.later(by: .seconds(120)) && session.session.started == .start)
    #expect(try reader.fences(of: session).map(\.fence.entered) == [.seconds(10)])
  }

  @Test("when a session that was sent is damaged, then it becomes submitted again")
  func sent() async throws {
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    let batch = try #require(try await store.outbox.batches(of: [1], in: [.waiting]).first)
    try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    try await store.damage("UPDATE session SET quarantined_at = 1")
    #expect(try await adopt() == 3)
    #expect(try session().state(isWriterAlive: false) == .submitted)
    #expect(try reader.fences(of: session()).map(\.session.session.testUUID) == ["T1", "T1", "T1"])
  }

  @Test(
    "when the batch of submitted fences is damaged, then the fences can be read, without their test"
  )
  func sentBatch() async throws {
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    let batch = try #require(try await store.outbox.batches(of: [1], in: [.waiting]).first)
    try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    try await store.damage("UPDATE batch SET anchor_at = anchor_at + 1")
    let fences = try reader.fences(of: session())
    #expect(fences.map(\.fence.number) == [0, 1, 2])
    #expect(fences.allSatisfy { $0.session.session.testUUID == nil && $0.session.session.anchor == nil })
    #expect(try session().submittedFences == 3 && session().damagedFences == 0)
  }
}
