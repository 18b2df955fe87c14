import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Rows that were damaged after they were written.
struct ChecksumTests {
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
  }

  private func session() throws -> StoredSession { try #require(try reader.sessions().first) }

  @Test("when the test text of the CRC catalogue is summed, then the checksum is the catalogue's")
  func catalogue() {
    var checksum = CRC64()
    for byte in "123456789".utf8 { checksum.add(byte: byte) }
    #expect(checksum.value == 0x995D_C9BB_DF19_39FA)
  }

  @Test(
    "when SQLite computes a checksum, then it equals Swift's checksum of the same values",
    arguments: [
      [.null], [Int64(0).databaseValue, Int64(-1).databaseValue, Int64.max.databaseValue, Int64.min.databaseValue],
      [
        Double(2.5).databaseValue, Double(48).databaseValue, Double(-0.0).databaseValue, Double(1e300).databaseValue,
        Double.pi.databaseValue,
      ],
      ["".databaseValue, "4G/LTE".databaseValue, "Österreich 🚂".databaseValue],
      [Data().databaseValue, Data([0, 1, 255]).databaseValue], [.null, Int64(1).databaseValue, .null], [],
    ] as [[DatabaseValue]])
  func sqlFunction(_ values: [DatabaseValue]) async throws {
    var checksum = CRC64()
    for value in values { checksum.add(value) }
    let stored = try await store.database.read { db in
      try Int64.fetchOne(
        db, sql: "SELECT checksum_of_row(\(values.map { _ in "?" }.joined(separator: ", ")))",
        arguments: StatementArguments(values))
    }
    #expect(stored == Int64(bitPattern: checksum.value))
  }

  @Test("when a text has a NUL in it, then the checksum covers the text behind it")
  func textWithNUL() async throws {
    var checksum = CRC64()
    checksum.add(text: Array("4G\0XXX".utf8))
    let stored = try await store.database.read { db in
      try Int64.fetchOne(db, sql: "SELECT checksum_of_row(CAST(x'344700585858' AS TEXT))")
    }
    #expect(stored == Int64(bitPattern: checksum.value))
  }

  @Test("when values are added eight bytes at once, then the checksum is that of the single bytes")
  func eightBytes() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let number = Int64.random(in: .min ... .max, using: &random)
      var (whole, single) = (CRC64(), CRC64())
      for _ in 0..<3 {
        whole.add(number)
        single.add(byte: 1)
        withUnsafeBytes(of: number.bigEndian) { for byte in $0 { single.add(byte: byte) } }
      }
      #expect(whole.value == single.value)
    }
  }

  @Test("when a table has a column, then the checksum covers it")
  func columns() async throws {
    let stored = try await store.database.read { db in
      try RowChecksum.tables.map {
        try db.columns(in: $0.name).map(\.name).filter { $0 != RowChecksum.column }.sorted()
      }
    }
    #expect(stored == RowChecksum.tables.map { $0.columns.sorted() })
    let tables = try await store.database.read { db in
      try String.fetchAll(
        db,
        sql:
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> 'grdb_migrations'"
      )
    }
    // What is in the counts is in the fences as well, and damage to them is mended from there (UnsentCountsTests).
    #expect(Set(tables) == Set(RowChecksum.tables.map(\.name) + [UnsentCounts.table]))
  }

  @Test("when every writer has written, then every row matches its checksum")
  func everyWriter() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, boot: ("B", .seconds(40)), log: nil)
    recorder.started = .sampleStart.later(by: .seconds(3600))
    try recorder.save(
      sessions: [Session(number: 0, started: .start)], fences: [.sample(lasted: nil)], seen: .seconds(100))
    #expect(try reader.damagedRows() == 0)
    try await store.drives.endInterrupted()
    _ = try await store.clockSettlement.settle(
      bootID: "B", sinceBoot: .seconds(100), now: .sampleStart.later(by: .seconds(7200)))
    try await store.servers.setClientUUID("C", at: "https://one")
    try await store.servers.setHistoryCursor(7, at: "https://one")
    try await store.servers.setGateMemory("{}", at: "https://one")
    let sessions = try reader.sessions().map(\.id)
    try await store.outbox.makeBatches(of: sessions, limit: 2, at: .sampleStart)
    let batches = try await store.outbox.batches(of: sessions, in: [.waiting])
    #expect(batches.map(\.fences) == [2, 1, 1])
    try await store.outbox.anchor(
      batch: batches[1].id, test: .init(uuid: "T9", anchor: .sampleStart), loopUUID: "L", client: "C")
    try await store.outbox.beginSending(batch: batches[0].id, fences: 2, client: "C", at: .sampleStart)
    let parts = try await store.outbox.split(batch: batches[0])
    try await store.outbox.markSubmitted(batch: parts[0].id, at: .sampleStart)
    try await store.outbox.quarantine(batch: parts[1], reason: "no", at: .sampleStart)
    try await store.outbox.reopen(batches: [parts[1]], at: .sampleStart)
    #expect(try reader.damagedRows() == 0)
    _ = try await store.cleanup.run(Retention(), now: .sampleStart.later(by: .seconds(8 * 86_400)), except: nil)
    #expect(try reader.damagedRows() == 0)
  }

  @Test(
    "when a fence is damaged, then it is counted, and neither read, nor sent, nor deleted by age",
    arguments: [
      "latitude = 48.3", "rtt_sum_ns = rtt_sum_ns + 1", "technology = '4G/LTF'", "entered_at = entered_at - 64",
      "submitted_at = 1", "submittable = 0", "exited_at = NULL", "last_seen_at = 5", "altitude_m = NULL",
      "row_checksum = NULL",
    ])
  func fence(_ change: String) async throws {
    try await store.damage("UPDATE fence SET \(change) WHERE number = 1")
    #expect(try reader.damagedRows() == 1)
    #expect(try session().damagedFences == 1)
    #expect(try session().waitingFences == 2)
    #expect(try reader.fences(of: session()).map(\.fence.number) == [0, 2])

    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    let batch = try #require(try await store.outbox.batches(of: [1], in: [.waiting]).first)
    #expect(batch.fences == 2)
    #expect(try reader.fences(of: batch).map(\.number) == [0, 2])
    try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    #expect(try session().state(isWriterAlive: false) == .submitted)
    _ = try await store.cleanup.run(Retention(), now: .sampleStart.later(by: .seconds(90 * 86_400)), except: nil)
    #expect(try session().fences == 1)
    #expect(try session().damagedFences == 1, "later writes do not repair it")
  }

  @Test("when a fence of a batch is damaged, then the batch is sent without it, and it does not count as sent")
  func inBatch() async throws {
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    try await store.damage("UPDATE fence SET pings_ok = 0 WHERE number = 0")
    let batch = try #require(try await store.outbox.batches(of: [1], in: [.waiting]).first)
    #expect(try reader.fences(of: batch).map(\.number) == [1, 2])
    try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    #expect(try session().submittedFences == 2)
    #expect(try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(submitted_at) FROM fence") } == 2)
  }

  @Test(
    "when a session, its drive or its batch is damaged, then nothing of it is read or sent",
    arguments: [
      "session SET anchor_at = anchor_at + 1", "session SET test_uuid = 'T2'", "drive SET started_at = 0",
      "session SET started_at = 9223372036854775807", "drive SET started_at = -9223372036854775808",
      "batch SET anchor_at = anchor_at + 1", "batch SET state = 'submitted'",
    ])
  func parents(_ change: String) async throws {
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    try await store.damage("UPDATE \(change)")
    let isOfBatch = change.hasPrefix("batch")
    #expect(try session().damagedFences == (isOfBatch ? 3 : 0), "the fences themselves are whole")
    #expect(try session().isDamaged == !isOfBatch)
    #expect(try !session().isWaiting)
    #expect(try reader.fences(of: session()).isEmpty)
    #expect(try await store.outbox.batches(of: [1], in: [.waiting, .submitted]).isEmpty)
  }

  @Test("when the stored data of a server is damaged, then it counts as unknown, and can be written again")
  func server() async throws {
    try await store.servers.setClientUUID("C", at: "https://one")
    try await store.servers.setGateMemory("{}", at: "https://one")
    try await store.damage("UPDATE registration SET client_uuid = 'D'; UPDATE breaker SET memory = '[]'")
    #expect(try await store.servers.clientUUID(at: "https://one") == nil)
    #expect(try reader.gateMemory(at: "https://one") == nil)
    try await store.servers.setClientUUID("E", at: "https://one")
    #expect(try await store.servers.clientUUID(at: "https://one") == "E")
  }
}

extension CRC64 {
  fileprivate mutating func add(_ value: DatabaseValue) {
    switch value.storage {
    case .null: addNull()
    case .int64(let integer): add(integer)
    case .double(let number): add(number)
    case .string(let text): add(text: Array(text.utf8))
    case .blob(let bytes): add(blob: Array(bytes))
    }
  }
}
