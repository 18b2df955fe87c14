import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Drives with a target of their own: stored, never waiting, deleted as submitted ones are, restored from their logs.
struct KeptDriveTests {
  private static let target = DriveTarget(.udpEcho, host: "192.0.2.1", port: 7)
  private static let day: Duration = .seconds(86_400)
  private let folder: TemporaryFolder
  private let store: DriveStore

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
  }

  /// An ended drive with three fences, of which Wi-Fi touched the last one.
  @discardableResult
  private func record(target: DriveTarget? = target, log: String? = nil) throws -> Int64 {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: log, target: target)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(600))],
      fences: (0..<3).map { .sample(number: $0, entered: Double($0) * 4, isSubmittable: $0 < 2) }, seen: .seconds(600))
    try recorder.end(at: .seconds(600), reason: .user)
    return recorder.drive
  }

  private var reader: StoreReader { StoreReader(store) }

  @Test("when a drive has a target, then its session is kept, and its fences are as they were measured")
  func kept() throws {
    try record()
    let session = try #require(try reader.sessions().first)
    #expect(session.state(isWriterAlive: true) == .kept && session.state(isWriterAlive: false) == .kept)
    #expect(session.target == "udp-echo 192.0.2.1:7")
    #expect((session.fences, session.keptFences, session.submittableFences) == (3, 2, 0))
    #expect((session.waitingFences, session.submittedFences, session.damagedFences) == (0, 0, 0))
    #expect(try reader.fences(of: session).map(\.fence.isSubmittable) == [true, true, false])
    #expect(try reader.keptSessions() == 1 && reader.damagedRows() == 0)
  }

  @Test("when sessions are counted without their fences, then a kept one is kept too")
  func listing() throws {
    try record()
    var large = reader
    large.readForListing = 0
    #expect(try large.sessions().map { $0.state(isWriterAlive: false) } == [.kept])
    #expect(try reader.session(id: 1)?.state(isWriterAlive: false) == .kept)
  }

  @Test("when the drive runs, then its session is being recorded; after a kill it is kept")
  func running() throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil, target: Self.target)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample(number: 0)], seen: .seconds(4))
    let session = try #require(try reader.sessions().first)
    #expect(session.state(isWriterAlive: true) == .recording)
    #expect(session.state(isWriterAlive: false) == .kept)
  }

  @Test("when a pass looks for work, then it finds nothing of a kept drive")
  func neverSent() async throws {
    try record()
    try record(target: nil)
    #expect(try reader.unsentSessions().map(\.drive) == [2])
    #expect(try reader.unsentOrphans() == 0 && reader.fencesToSend(fromDrive: 1) == 2)
    try await store.outbox.makeBatches(of: [1, 2], limit: 400, at: .sampleStart)
    let batches = try await store.outbox.batches(of: [1, 2], in: [.waiting])
    #expect(batches.map(\.session) == [2] && batches.map(\.fences) == [2])
    #expect(try await store.lostBatches.doubtUnsent() <= 2)
    #expect(try await store.outbox.batches(of: [1], in: [.waiting, .sending]).isEmpty)
  }

  @Test("when kept fences lose their session, then no pass sends them either")
  func orphans() async throws {
    try record()
    try await store.database.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM session; PRAGMA foreign_keys = ON")
    }
    #expect(try reader.unsentOrphans() == 0)
    _ = try await store.orphans.adopt(lastSeenBefore: .sampleStart.later(by: Self.day), orAfter: nil, except: nil)
    let ids = try reader.sessions().map(\.id)
    try await store.outbox.makeBatches(of: ids, limit: 400, at: .sampleStart)
    #expect(try await store.outbox.batches(of: ids, in: [.waiting]).isEmpty)
    #expect(try reader.sessions().map { $0.state(isWriterAlive: false) } == [.kept])
  }

  @Test("when kept fences were stored long enough, then they are deleted as submitted ones are, if two clocks agree")
  func age() async throws {
    try record()
    func cleanUp(_ days: Int, _ agreement: ClockAgreement) async throws -> Deleted {
      try await store.cleanup.run(
        Retention(), now: .sampleStart.later(by: Self.day * days), agreement: agreement, except: nil)
    }
    #expect(try await cleanUp(29, .agrees).isNothing)
    #expect(try await cleanUp(31, .silent).isNothing)
    let deleted = try await cleanUp(31, .agrees)
    #expect((deleted.sentLongAgo, deleted.expired, deleted.sessions) == (3, 0, 1))
    #expect(try reader.sessions().isEmpty)
  }

  @Test("when the store holds too many fences, then kept ones go, and waiting ones stay")
  func quota() async throws {
    try record()
    try record(target: nil)
    let dropped = try await store.space.keepWithin(Quota(bytes: .max, fences: 4), except: nil)
    #expect(dropped.fences == 2)
    #expect(try reader.sessions().map(\.fences) == [1, 3])
  }

  // MARK: The drive log

  private func road() throws -> Road { try Road(fences: 10, test: nil, target: Self.target) }

  /// Writes the log of `road` where the store looks for logs.
  private func log(_ road: Road) throws -> String {
    let path = store.directory.driveLogs + "/1.jsonl"
    try road.log.write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("when a damaged store has lost a kept drive, then its log gives it back as kept")
  func recovery() async throws {
    let road = try road()
    let path = try log(road)
    #expect(try RecordedDrive(path: path).header.target == Self.target)
    let lines = LogLines()
    let recovery = Recovery(store, maxAge: Self.day, logger: lines.logger)
    let outcome = try await recovery.run(at: .sampleStart.later(by: .seconds(3600)))
    #expect(outcome.recovered > 0)
    let session = try #require(try reader.sessions().first)
    #expect(session.state(isWriterAlive: false) == .kept && session.target == "udp-echo 192.0.2.1:7")
    #expect(session.keptFences == outcome.recovered && session.waitingFences == 0)
    #expect(try reader.unsentSessions().isEmpty)
  }

  @Test("when the row of a kept drive is damaged, then the log gives it back its target")
  func damagedRow() async throws {
    let road = try road()
    let path = try log(road)
    var recorder = try DriveRecorder(store, started: road.header.started, log: path, target: Self.target)
    try recorder.save(sessions: road.engine.sessions, fences: Array(road.ended.prefix(4)), seen: road.engine.now)
    try recorder.end(at: road.engine.now, reason: .user)
    try await store.damage("UPDATE drive SET target = 'icmp elsewhere'")
    #expect(try reader.sessions().map(\.isDamaged) == [true])
    #expect(try reader.unsentSessions().isEmpty, "a damaged row must not make it a drive to submit")
    _ = try await Recovery(store, maxAge: Self.day, logger: LogLines().logger).run(
      at: .sampleStart.later(by: .seconds(3600)))
    let session = try #require(try reader.sessions().first)
    #expect(session.target == "udp-echo 192.0.2.1:7" && !session.isDamaged)
    #expect(session.keptFences == road.ended.count && session.waitingFences == 0)
  }

  @Test("when the log is older than unsent data may be, then a kept drive is restored all the same")
  func oldLog() async throws {
    let path = try log(try road())
    StateDirectory.setModified(path, to: .sampleStart)
    try store.noteRollback()
    let outcome = try await Recovery(store, maxAge: Self.day, logger: LogLines().logger).run(
      at: .sampleStart.later(by: Self.day * 10))
    #expect(outcome.recovered > 0)
    #expect(try reader.sessions().map { $0.state(isWriterAlive: false) } == [.kept])
  }

  @Test("when a log names a target of a later version, then its drive is kept and not submitted")
  func unknownTarget() throws {
    let line = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","target":{"protocol":"quic","host":"a"}}"#
    #expect(try JSONDecoder().decode(DriveLogHeader.self, from: Data(line.utf8)).target != nil)
    let plain = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z"}"#
    #expect(try JSONDecoder().decode(DriveLogHeader.self, from: Data(plain.utf8)).target == nil)
  }
}
