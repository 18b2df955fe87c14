import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Salvaged rows whose related rows are lost.
struct SalvageTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private var reader: StoreReader { StoreReader(store) }

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  /// A drive of one session with three fences.
  private func record(log: String? = nil, ended: Bool = true) throws -> DriveRecorder {
    var recorder = try DriveRecorder(store, started: .sampleStart, boot: ("B", .zero), log: log, link: "modem")
    try recorder.save(
      sessions: [
        Session(number: 0, testUUID: "T\(recorder.drive)", started: .start, anchor: .start, finalized: .seconds(100))
      ],
      fences: (0..<3).map { .sample(number: $0, entered: 10 + Double($0) * 4) }, seen: .seconds(100))
    if ended { try recorder.end(at: .seconds(100), reason: .user) }
    return recorder
  }

  /// Deletes rows by `loss`, and damages the file by dropping a trigger.
  private func lose(_ loss: String) throws {
    try store.database.writeWithoutTransaction { db in
      try db.execute(
        sql: "PRAGMA foreign_keys = OFF; \(loss); DROP TRIGGER fence_updated; PRAGMA foreign_keys = ON")
    }
  }

  @Test("when drives and sessions are lost, then later ones do not get their ids, and their fences stay")
  func ids() async throws {
    _ = try record()
    _ = try record()
    try await store.outbox.makeBatches(of: [2], limit: 400, at: .sampleStart)
    try lose("DELETE FROM drive WHERE id = 2; DELETE FROM session WHERE id = 2")
    try store.repair()
    #expect(try await store.drives.next() == 3)
    let next = try record()
    #expect(next.drive == 3)
    #expect(try reader.sessions().map(\.fences) == [3, 3])
    #expect(try await store.orphans.adopt(lastSeenBefore: .sampleStart.later(by: .seconds(3600)), except: 3) == 3)
    #expect(try reader.sessions().map(\.fences) == [3, 3, 3])
  }

  @Test(
    "when a batch with waiting fences is damaged, then it is in doubt, with the test and client that are still known")
  func damagedBatches() async throws {
    for _ in 0..<3 { _ = try record() }
    try await store.servers.setClientUUID("C", at: "https://one")
    try await store.outbox.makeBatches(of: [1, 2, 3], limit: 400, at: .sampleStart)
    try await store.outbox.markSubmitted(batch: 1, at: .sampleStart)
    try await store.damage("UPDATE batch SET anchor_at = 7")
    #expect(
      try await store.lostBatches.doubtDamaged(except: 3) == 1,
      "the server has the first, and the third is of the running drive")
    let batch = try #require(try await store.outbox.batches(of: [1, 2, 3], in: [.sending]).first)
    #expect(batch.session == 2 && batch.isLost && batch.fences == 3)
    #expect(batch.test == nil && batch.testInQuestion == "T2" && batch.client == "C")
    #expect(try await store.outbox.knownTests() == ["t1", "t2", "t3"])
    #expect(try await store.lostBatches.doubtDamaged(except: 3) == 0)
    #expect(try reader.damagedRows() == 2)
  }

  @Test("when the number of the last drive is damaged, then the next drive still gets the number after it")
  func nextDrive() async throws {
    _ = try record()
    try await store.database.write { try $0.execute(sql: "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'drive'") }
    #expect(try await store.drives.next() == 2)
  }

  @Test("when the row of the running drive is lost or damaged, then a repair restores it")
  func runningDrive() throws {
    for change in ["DELETE FROM drive", "UPDATE drive SET ended_at = 5, log = 'b log' WHERE id = 1"] {
      let recorder = try record(log: "a log", ended: false)
      try lose(change)
      try recorder.repair()
      let row = try store.database.read { db in
        try Row.fetchOne(
          db, sql: "SELECT *, \(RowChecksum.isIntact("drive")) AS is_intact FROM drive WHERE id = ?",
          arguments: [recorder.drive])
      }
      #expect(row?["log"] == "a log")
      #expect(row?["link"] == "modem")
      #expect(row?["boot_id"] == "B")
      #expect(row?["ended_at"] == nil as Int64?)
      #expect(row?["is_intact"] == true)
    }
  }
}
