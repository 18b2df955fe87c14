import Coverage
import Dispatch
import GRDB
import TestSupport
import Testing

@testable import DriveStore

/// Reads beside the writer.
struct SideReaderTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
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

  @Test("when a body tries to write, then the store refuses it")
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

  @Test("when the store has unsent fences, then they are found without a look at those that were sent")
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
