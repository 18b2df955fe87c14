import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Deletion by age, with a clock that may be wrong, and with drive logs.
struct RetentionSlowTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private let day: Duration = .seconds(86_400)

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
  }

  /// An ended drive of ten minutes with three fences.
  @discardableResult
  private func record(after days: Int, sent: Bool = false, log: String? = nil) async throws -> Int64 {
    let path = try log.map { name in
      let path = store.directory.driveLogs + "/" + name
      try "a way".write(toFile: path, atomically: true, encoding: .utf8)
      return path
    }
    var recorder = try DriveRecorder(store, started: .sampleStart.later(by: day * days), log: path)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(600))],
      fences: (0..<3).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(600))
    try recorder.end(at: .seconds(600), reason: .user)
    if sent {
      let sessions = try StoreReader(store).sessions().filter { $0.drive == recorder.drive }.map(\.id)
      try await store.outbox.makeBatches(of: sessions, limit: 400, at: .sampleStart)
      for batch in try await store.outbox.batches(of: sessions, in: [.waiting]) {
        try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart.later(by: day * days))
      }
    }
    return recorder.drive
  }

  private func cleanUp(after days: Int, _ agreement: ClockAgreement = .silent) async throws -> Deleted {
    try await store.cleanup.run(Retention(), now: .sampleStart.later(by: day * days), agreement: agreement, except: nil)
  }

  private func drives() throws -> [Int64] { try StoreReader(store).sessions().map(\.drive) }
  private func exists(_ log: String) -> Bool {
    FileManager.default.fileExists(atPath: store.directory.driveLogs + "/" + log)
  }

  @Test("when the store has several slices of fences, then the old ones of each are deleted, and no others")
  func slices() async throws {
    let fences = (0..<2500).map { Fence.sample(number: $0, entered: Double($0)) }
    for days in [0, 40, 0] {
      var recorder = try DriveRecorder(store, started: .sampleStart.later(by: day * days), log: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(3000))], fences: fences, seen: .seconds(3000)
      )
      try recorder.end(at: .seconds(3000), reason: .user)
    }
    try await store.damage("UPDATE fence SET pings = 99 WHERE number = 2400 AND drive_id = 3")
    let (doubted, deleted) = (try await cleanUp(after: 41), try await cleanUp(after: 41, .agrees))
    #expect((doubted.doubted, doubted.isNothing) == (4999, true))
    #expect((deleted.expired, deleted.sentLongAgo, deleted.sessions) == (4999, 0, 1))
    #expect(try StoreReader(store).sessions().map(\.fences) == [2500, 1])
    #expect(try await cleanUp(after: 41, .agrees) == Deleted())
  }

  @Test("when a later process ends a drive, then the age of its fences counts from that time")
  func recovered() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)],
      fences: (0..<3).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(600))
    #expect(try await cleanUp(after: 10, .agrees) == Deleted())
    try await store.drives.endInterrupted()
    #expect(try await cleanUp(after: 11).doubted == 0, "a single clock does not date the end")
    #expect(try await cleanUp(after: 10, .agrees) == Deleted())
    #expect(try await cleanUp(after: 16, .agrees) == Deleted(), "they could not be sent before")
    #expect(try await cleanUp(after: 18, .agrees).expired == 3)
  }

  @Test("when a clock that was ahead dated the recovery of a drive, then its age counts from now on")
  func recoveredInTheFuture() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)], fences: [.sample(entered: 4)], seen: .seconds(600))
    try await store.drives.endInterrupted()
    #expect(try await cleanUp(after: 400, .agrees) == Deleted())
    #expect(try await cleanUp(after: 20, .agrees) == Deleted(), "day 400 is in the future")
    #expect(try await store.inspection.damagedRows() == 0, "the new time has a checksum")
    #expect(try await cleanUp(after: 26, .agrees) == Deleted())
    #expect(try await cleanUp(after: 28, .agrees).expired == 1)
  }

  @Test(
    "when a drive has an impossible time, then its fences do not expire; once quarantined, they stay as long as others"
  )
  func timeless() async throws {
    var recorder = try DriveRecorder(store, started: WallTime(microseconds: 60_000_000), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(600))], fences: [.sample(entered: 5)],
      seen: .seconds(600))
    try recorder.end(at: .seconds(600), reason: .user)
    #expect(try await cleanUp(after: 10, .agrees) == Deleted())
    let settled = try await store.clockSettlement.settle(
      bootID: "another", sinceBoot: .seconds(60), now: .sampleStart.later(by: day * 10))
    #expect(settled.lost == [recorder.drive])
    #expect(try await cleanUp(after: 5, .agrees) == Deleted(), "the clock that quarantined it was ahead")
    #expect(try await cleanUp(after: 34, .agrees) == Deleted(), "submit --quarantined finds them")
    #expect(try await store.inspection.damagedRows() == 0, "the new time has a checksum")
    #expect(try await cleanUp(after: 36, .agrees).sentLongAgo == 1)
  }

  @Test("when the answer to fences was lost, then they do not expire before the history was read")
  func inDoubt() async throws {
    try await record(after: 0)
    let sessions = try StoreReader(store).sessions().map(\.id)
    try await store.outbox.makeBatches(of: sessions, limit: 400, at: .sampleStart)
    let batch = try #require(try await store.outbox.batches(of: sessions, in: [.waiting]).first)
    try await store.outbox.beginSending(batch: batch.id, fences: 3, client: "C", at: .sampleStart)
    #expect(try await cleanUp(after: 10, .agrees) == Deleted())
    try await store.outbox.release(batch: batch.id)
    #expect(try await cleanUp(after: 10, .agrees).expired == 3)
  }

  @Test("when an unset clock dated fences that are never sent, then they stay")
  func timelessOfOtherKinds() async throws {
    var recorder = try DriveRecorder(store, started: WallTime(microseconds: 60_000_000), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(600))],
      fences: [.sample(entered: 5, isSubmittable: false)], seen: .seconds(600))
    try recorder.end(at: .seconds(600), reason: .user)
    #expect(try await cleanUp(after: 40, .agrees) == Deleted())
  }

  // MARK: The clock

  @Test(
    "when no second clock agrees that fences are old, then unsent ones stay, however far the clock is ahead",
    arguments: [8, 59, 61, 14 * 365])
  func lyingClock(_ days: Int) async throws {
    let unsent = try await record(after: 0)
    try await record(after: 0, sent: true)
    let deleted = try await cleanUp(after: days)
    #expect(deleted.expired == 0 && deleted.doubted == 3)
    #expect(deleted.sentLongAgo == (days > 30 ? 3 : 0), "the server has these")
    #expect(try drives().contains(unsent))
  }

  @Test("when drives were recorded up to the present, then they do not confirm the clock")
  func unbroken() async throws {
    for days in stride(from: 0, through: 100, by: 50) { try await record(after: days) }
    let deleted = try await cleanUp(after: 107)
    #expect(deleted.expired == 0 && deleted.doubted == 6)
    #expect(try await cleanUp(after: 107, .agrees).expired == 6)
    #expect(try drives() == [3])
  }

  @Test("when a fence touched by Wi-Fi is old by a single clock, then it stays until a second clock agrees")
  func unsentOfOtherKinds() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(600))],
      fences: [.sample(entered: 5, isSubmittable: false)], seen: .seconds(600))
    try recorder.end(at: .seconds(600), reason: .user)
    #expect(try await cleanUp(after: 40).isNothing)
    #expect(try await cleanUp(after: 40, .agrees).sentLongAgo == 1)
  }

  @Test("when a second clock agrees, then old fences are deleted; when one contradicts, all stay")
  func witnesses() async throws {
    try await record(after: 0)
    let sent = try await record(after: 0, sent: true)
    #expect(try await cleanUp(after: 14 * 365, .contradicts) == Deleted())
    #expect(try drives().count == 2)
    let deleted = try await cleanUp(after: 14 * 365, .agrees)
    #expect((deleted.expired, deleted.sentLongAgo, deleted.doubted) == (3, 3, 0))
    #expect(try drives().isEmpty && sent == 2)
  }

  // MARK: Drive logs

  @Test("when a drive without fences is a month old, then its log is deleted with it, and not before")
  func logs() async throws {
    try await record(after: 0, sent: true, log: "sent.jsonl")
    try await record(after: 0, log: "unsent.jsonl")
    try await record(after: 20, sent: true, log: "later.jsonl")
    let week = try await cleanUp(after: 8, .agrees)
    #expect(week.expired == 3 && week.driveLogs == 0)
    #expect(exists("unsent.jsonl"), "the log of an expired drive stays as long as sent fences")
    let doubted = try await cleanUp(after: 31)
    #expect(doubted.sentLongAgo == 3 && doubted.driveLogs == 0, "no other clock agrees")
    #expect(try await cleanUp(after: 31, .agrees).driveLogs == 2)
    #expect(!exists("sent.jsonl") && !exists("unsent.jsonl") && exists("later.jsonl"))
    #expect(try await store.database.read { try Int64.fetchAll($0, sql: "SELECT id FROM drive") } == [3])
  }

  @Test("when a log was deleted and its row was not, as in a power cut, then the next clean-up deletes the row")
  func cutOff() async throws {
    let drive = try await record(after: 0, sent: true, log: "sent.jsonl")
    unlink(store.directory.driveLogs + "/sent.jsonl")
    #expect(try await cleanUp(after: 31, .agrees).driveLogs == 0)
    let left = try await store.database.read { try Int64.fetchAll($0, sql: "SELECT id FROM drive") }
    #expect(left.isEmpty && drive == 1)
  }

  @Test("when the state directory has moved, then the log is found in the new place, and files elsewhere stay")
  func moved() async throws {
    let elsewhere = try folder.write("precious", to: "way.jsonl")
    let inside = store.directory.driveLogs + "/way.jsonl"
    try "a way".write(toFile: inside, atomically: true, encoding: .utf8)
    let recorder = try DriveRecorder(store, started: .sampleStart, log: elsewhere)
    try recorder.end(at: .seconds(5), reason: .user)
    #expect(try await cleanUp(after: 31, .agrees).driveLogs == 1)
    #expect(!FileManager.default.fileExists(atPath: inside) && FileManager.default.fileExists(atPath: elsewhere))
  }

  // MARK: Files that a damaged store leaves

  /// A file that was last written `days` days after the first drive.
  private func leave(_ name: String, after days: Int) throws -> String {
    let path = store.directory.path + "/" + name
    try "a way".write(toFile: path, atomically: true, encoding: .utf8)
    let seconds = WallTime.sampleStart.later(by: day * days).microseconds / 1_000_000
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: Double(seconds))], ofItemAtPath: path)
    return path
  }

  @Test(
    "when a damaged store and a log without a drive are old, then they are deleted, and younger ones and other files stay"
  )
  func strays() async throws {
    try await record(after: 0, log: "named.jsonl")
    try await record(after: 35)
    let old = try [
      leave("coverage.sqlite.corrupt-A", after: 1), leave("coverage.sqlite.corrupt-A-wal", after: 1),
      leave("drives/of-no-drive.jsonl", after: 1),
    ]
    let stay = try [
      leave("coverage.sqlite.corrupt-B", after: 11), leave("drives/young.jsonl", after: 11),
      leave("drives/notes.txt", after: 1), leave("drives/named.jsonl", after: 1), leave("other", after: 1),
    ]
    let forgotten = try #require(try await store.forget(session: 2) { _, _ in })
    #expect(forgotten.damagedStores == [old[0], old[1], stay[0]], "the session may be in them")
    #expect(try await cleanUp(after: 40, .contradicts).isNothing)
    let deleted = try await cleanUp(after: 40, .agrees)
    #expect((deleted.damagedStores, deleted.driveLogs) == (2, 2), "with the log of the first drive, which is empty now")
    #expect(old.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
    #expect(stay.filter { !FileManager.default.fileExists(atPath: $0) } == [store.directory.driveLogs + "/named.jsonl"])
  }

  @Test(
    "when a stray file has the time of an unset clock, or a future time, then its age counts from now on")
  func timelessStrays() async throws {
    for days in [-20_000, 500] { _ = try leave("coverage.sqlite.corrupt-\(days)", after: days) }
    #expect(try await cleanUp(after: 40).isNothing)
    #expect(try await cleanUp(after: 40, .agrees).isNothing)
    #expect(try await cleanUp(after: 69, .agrees).isNothing)
    #expect(try await cleanUp(after: 71, .agrees).damagedStores == 2)
  }

  @Test("when a stray file is old by a single clock, then it stays until a second clock agrees")
  func doubtedStrays() async throws {
    let stray = try leave("drives/of-no-drive.jsonl", after: 0)
    #expect(try await cleanUp(after: 1000).isNothing)
    #expect(try await cleanUp(after: 1000, .agrees).driveLogs == 1)
    #expect(!FileManager.default.fileExists(atPath: stray))
  }
}
