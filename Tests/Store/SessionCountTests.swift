import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// The counts of sessions in a store that is too large to read each fence.
struct SessionCountTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  /// Four drives: sent, partly sent, refused, new.
  init() async throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
    for number in 0..<4 {
      var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(3600 * number)), log: nil)
      let fences = (0..<6).map { Fence.sample(number: $0, entered: Double($0) * 4, isSubmittable: $0 != 2) }
      let session = Session(
        number: 0, testUUID: "T\(number)", started: .start, anchor: .start, finalized: .seconds(100))
      try recorder.save(sessions: [session], fences: fences, seen: .seconds(100))
    }
    try await store.outbox.makeBatches(of: [1, 2, 3], limit: 3, at: .sampleStart)
    for batch in try await store.outbox.batches(of: [1], in: [.waiting]) {
      try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    }
    let (partly, refused) = (
      try await store.outbox.batches(of: [2], in: [.waiting]), try await store.outbox.batches(of: [3], in: [.waiting])
    )
    try await store.outbox.markSubmitted(batch: partly[0].id, at: .sampleStart)
    try await store.outbox.quarantine(batch: refused[0], reason: "a test", at: .sampleStart)
  }

  private func sessions(isLarge: Bool) throws -> [StoredSession] {
    var reader = StoreReader(store)
    reader.readForListing = isLarge ? 0 : .max
    return try reader.sessions()
  }

  @Test("when all rows are intact, then the counts of a large store are those of a small one")
  func intact() throws {
    let (large, small) = (try sessions(isLarge: true), try sessions(isLarge: false))
    #expect(large == small)
    #expect(small.map(\.fences) == [6, 6, 6, 6])
    #expect(small.map(\.submittedFences) == [5, 3, 0, 0])
    #expect(small.map(\.quarantinedFences) == [0, 0, 3, 0])
    #expect(small.map(\.waitingFences) == [0, 2, 2, 5])
  }

  @Test("when rows are damaged, then a large store counts the unsent ones, and does not read the sent ones")
  func damaged() async throws {
    try await store.damage("UPDATE fence SET pings = 99 WHERE number = 1 OR number = 5")
    #expect(try sessions(isLarge: false).map(\.damagedFences) == [2, 2, 2, 2])
    #expect(try sessions(isLarge: true).map(\.damagedFences) == [0, 1, 2, 2])
    #expect(try sessions(isLarge: true).map(\.waitingFences) == sessions(isLarge: false).map(\.waitingFences))
  }

  @Test("when a batch is damaged, then its unsent fences count as damaged in stores of any size")
  func damagedBatch() async throws {
    let batches = try await store.outbox.batches(of: [2, 3], in: [.waiting])
    for batch in batches { try await store.damage("UPDATE batch SET attempt = 9 WHERE id = \(batch.id)") }
    let (large, small) = (try sessions(isLarge: true), try sessions(isLarge: false))
    #expect(large == small)
    #expect(small.map(\.damagedFences) == [0, 2, 2, 0])
  }

  @Test("when the store is large, then submitted fences are found in an index")
  func plan() async throws {
    let steps = try await store.database.read { db in
      try Row.fetchAll(
        db, sql: "EXPLAIN QUERY PLAN SELECT \(StoredSession.columnsWithSentCounted) GROUP BY session.id"
      ).map { $0["detail"] as String }
    }
    #expect(steps.contains { $0.contains("SEARCH stored USING COVERING INDEX fence_of_session") })
    #expect(steps.contains { $0.contains("USING INDEX fence_unsent") })
    #expect(!steps.contains { $0.contains("SCAN fence") })
  }
}
