import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// The views through which all statements see the store.
struct IntactRowsTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  init() async throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(1), finalized: .seconds(100))],
      fences: (0..<4).map { .sample(number: $0, entered: 10 + Double($0) * 4) }, seen: .seconds(100))
    try await store.drives.endInterrupted()
    let sessions = try StoreReader(store).sessions().map(\.id)
    try await store.outbox.makeBatches(of: sessions, limit: 2, at: .sampleStart)
    try await store.servers.setClientUUID("C", at: "https://one")
    try await store.servers.setGateMemory("{}", at: "https://one")
    try await store.database.write { db in
      try db.execute(
        sql: "INSERT INTO clock (boot_id, booted_at, ruled_by, confirmed, memory) VALUES ('B', 1, 'gnss', 1, '{}')")
      try db.execute(sql: "INSERT INTO forgetting (id) VALUES (7)")
      try db.execute(sql: "INSERT INTO loop (id, memory) VALUES (1, '{}')")
      try db.execute(
        sql: """
          INSERT INTO speed_test (control_server, client_uuid, test_uuid, test_token, writer, started_at, state)
          VALUES ('S', 'C', 'T', 'K', 'W', 1, 'waiting')
          """)
    }
  }

  private func count(_ rows: String) async throws -> Int {
    try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(rows)") ?? -1 }
  }

  @Test(
    "when a row of any table is damaged, then the view of intact rows lacks it",
    arguments: RowChecksum.tables.map(\.name))
  func damagedRow(_ table: String) async throws {
    let rows = try await count(table)
    #expect(rows > 0)
    #expect(try await count("intact_\(table)") == rows)
    let columns = [
      "fence": "pings", "batch": "attempt", "session": "started_at", "drive": "started_at", "clock": "booted_at",
      "breaker": "memory", "registration": "client_uuid", "forgetting": "id",
      "speed_test": "attempt", "loop": "memory", "identity": "uuid",
    ]
    let column = try #require(columns[table])
    try await store.damage(
      "UPDATE \(table) SET \(column) = \(column) || '1' WHERE rowid = (SELECT min(rowid) FROM \(table))")
    #expect(try await count(table) == rows)
    #expect(try await count("intact_\(table)") == rows - 1)
    #expect(try await count("\(table) WHERE \(RowChecksum.isDamaged(table))") == 1)
  }

  @Test("when a batch is damaged, then of its fences only those that the server has can be read")
  func damagedBatch() async throws {
    #expect(try await count("readable_fence") == 4)
    try await store.damage("UPDATE batch SET attempt = 9 WHERE id = 1")
    #expect(try await count("readable_fence") == 2)
    try await store.database.write { db in
      try db.execute(sql: "UPDATE fence SET submitted_at = 5 WHERE batch_id = 1 AND number = 0")
    }
    #expect(try await count("readable_fence") == 3)
    try await store.database.write { db in try db.execute(sql: "DELETE FROM batch WHERE id = 2") }
    #expect(try await count("readable_fence") == 3, "the reference goes with the batch")
  }

  @Test("when a reader or a writer opens the store, then the file has no views")
  func nothingInTheFile() async throws {
    let names = "SELECT count(*) FROM main.sqlite_master WHERE type = 'view'"
    #expect(try await store.database.read { try Int.fetchOne($0, sql: names) } == 0)
    let reader = try StoreReader(directory: store.directory)
    #expect(try reader.rows("SELECT count(*) AS n FROM intact_fence").first?["n"] == 4)
    #expect(try reader.rows(names.replacing("count(*)", with: "count(*) AS n")).first?["n"] == 0)
  }

  @Test(
    "when a statement reads through a view, then it finds the rows of a session or a batch by an index",
    arguments: [
      "SELECT \(StoredSession.columns) WHERE session.id = 1 GROUP BY session.id",
      "SELECT \(StoredFence.columns) FROM readable_fence AS fence WHERE fence.session_id = 1 ORDER BY number",
      "SELECT \(Batch.columns) WHERE batch.session_id = 1 GROUP BY batch.id ORDER BY batch.id",
      "UPDATE fence SET submitted_at = 1 WHERE id IN (SELECT id FROM intact_fence WHERE batch_id = 1)",
    ])
  func indices(_ sql: String) async throws {
    let steps = try await store.database.write { db in
      try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { $0["detail"] as String }
    }
    #expect(steps.contains { $0.contains("SEARCH") && $0.contains("fence") })
    #expect(!steps.contains { $0.contains("MATERIALIZE") || $0.contains("SCAN main.fence") || $0 == "SCAN fence" })
  }
}
