import Coverage
import Dispatch
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Reads beside the writer.
struct SideReaderTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private func save(_ fences: Int) throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)],
      fences: (0..<fences).map { .sample(number: $0, entered: 10 + Double($0) * 4) }, seen: .seconds(100))
  }

  private func stored() async throws -> [Int] { try await store.reading { try $0.sessions().map(\.fences) } }

  @Test("when a fence was saved, then the next read beside the writer sees it")
  func order() async throws {
    #expect(try await stored() == [])
    try save(2)
    #expect(try await stored() == [2])
    try save(3)
    #expect(try await stored() == [2, 3])
  }

  /// writer:  begins a transaction, waits for the gate ................ commits
  /// reader:                                    reads, opens the gate
  @Test("when the writer is in the middle of a transaction, then a read does not wait for it", .timeLimit(.minutes(5)))
  func besideTransaction() async throws {
    try save(2)
    let gate = DispatchSemaphore(value: 0)
    let (entries, entered) = AsyncStream<Void>.makeStream()
    async let deleted: Void = store.database.write { db in
      try db.execute(sql: "DELETE FROM fence WHERE number = 0")
      entered.yield()
      gate.wait()
    }
    for await _ in entries { break }
    let seen = try await stored()
    gate.signal()
    try await deleted
    #expect(seen == [2])
    #expect(try await stored() == [1])
  }

  @Test("when the body of a read tries to write, then the store refuses it")
  func readOnly() async throws {
    try save(2)
    await #expect(throws: DatabaseError.self) {
      try await store.reading { reader in _ = try reader.rows("DELETE FROM fence RETURNING id") }
    }
    #expect(try await stored() == [2])
  }

  @Test("when the store was repaired, then reads beside the writer see the new file")
  func repaired() async throws {
    try save(2)
    #expect(try await stored() == [2])
    try store.repair()
    try save(1)
    #expect(try await stored() == [2, 1])
  }

  @Test("when a drive repairs the store, then reads beside the writer see the new file")
  func repairedByDrive() async throws {
    try save(2)
    #expect(try await stored() == [2])
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    // A new file, as after a salvage: an open connection would still read the old one.
    let path = store.directory.database
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
    #expect(rename(path + ".copy", path) == 0)
    try recorder.repair()
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample()], seen: .start)
    #expect(try await stored() == [2, 1])
  }

  @Test("when reads are interrupted repeatedly, even at their end, then each ends or fails, and later ones succeed")
  func interruptedOften() async throws {
    try save(2)
    let interrupting = Task.detached { [store] in
      while !Task.isCancelled { store.store.interruptReads() }
    }
    var failures = 0
    // Each read competes with a task that takes a whole processor.
    let reads = RandomOrders.count
    for _ in 0..<reads {
      do {
        _ = try await store.store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM fence") }
      } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
        failures += 1
      }
    }
    interrupting.cancel()
    await interrupting.value
    #expect(try await stored() == [2])
    #expect(failures < reads)
  }

  /// reader:  reads without an end ............ fails
  /// test:                          interrupts        repairs
  @Test("when a long read is interrupted, then it fails, and a repair does not wait for it")
  func repairDuringRead() async throws {
    try save(2)
    let (entries, entered) = AsyncStream<Void>.makeStream()
    let read = Task { [store] in
      try await store.store.read { db in
        entered.yield()
        return try Int.fetchOne(
          db, sql: "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
      }
    }
    for await _ in entries { break }
    // The statement may not have begun yet: then only the next interruption ends it.
    let interrupting = Task { [store] in
      while !Task.isCancelled {
        store.store.interruptReads()
        await Task.yield()
      }
    }
    await #expect(throws: DatabaseError.self) { _ = try await read.value }
    interrupting.cancel()
    try store.repair()
    #expect(try await stored() == [2])
  }

  @Test("when no second connection can be opened, then a read uses the writer's")
  func noConnection() async throws {
    try save(2)
    let failing = SideReader("test") { throw StoreError.unusable(path: "a store", reason: "a test") }
    let missing = SideReader("test") { nil }
    for reader in [failing, missing] {
      let fences = try await reader.read(or: store.database) { try StoreReader($0).sessions().map(\.fences) }
      #expect(fences == [2])
    }
  }

  /// writer:  begins a transaction, waits for the gate ..................................... commits
  /// pass:                                               reads batches, sessions and fences
  @Test("when the writer is in the middle of a transaction, then a pass can still read", .timeLimit(.minutes(5)))
  func passBesideTransaction() async throws {
    try save(2)
    let sessions = try await store.reading { try $0.unsentSessions().map(\.id) }
    try await store.outbox.makeBatches(of: sessions, limit: 400, at: .sampleStart)
    let gate = DispatchSemaphore(value: 0)
    let (entries, entered) = AsyncStream<Void>.makeStream()
    async let written: Void = store.database.write { db in
      try db.execute(sql: "DELETE FROM fence WHERE number = 0")
      entered.yield()
      gate.wait()
    }
    for await _ in entries { break }
    let batches = try await store.outbox.batches(of: sessions, in: [.waiting])
    let fences = try await store.reading { try $0.fences(of: batches[0]) }
    let deleted = try await store.space.keepWithin(Quota(bytes: .max, fences: .max), except: nil)
    gate.signal()
    try await written
    #expect(batches.map(\.fences) == [2])
    #expect(fences.count == 2)
    #expect(deleted.isNothing)
  }

  @Test("when a row is damaged, then reads beside the writer omit it as the writer does")
  func damagedRow() async throws {
    try save(3)
    #expect(try await store.reading { try $0.sessions().map(\.damagedFences) } == [0])
    try await store.damage("UPDATE fence SET pings = pings + 1 WHERE number = 1")
    #expect(try await store.reading { try $0.sessions().map(\.damagedFences) } == [1])
    #expect(try await store.comparison.fenceMarks(of: 1).map(\.number) == [0, 2])
  }

  @Test("when the store has unsent fences, then an index finds them without reading sent ones")
  func unsent() async throws {
    let steps = try await store.database.read { db in
      try Row.fetchAll(
        db,
        sql: """
          EXPLAIN QUERY PLAN SELECT 1 FROM session WHERE EXISTS (
            SELECT 1 FROM fence AS unsent WHERE unsent.session_id = session.id AND submitted_at IS NULL
              AND (submittable OR batch_id IS NOT NULL))
          """
      ).map { $0["detail"] as String }
    }
    #expect(steps.contains { $0.contains("fence_unsent") })
  }
}
