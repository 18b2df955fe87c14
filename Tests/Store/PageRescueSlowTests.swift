import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Stores with damage in pages that lead to other pages.
struct PageRescueSlowTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private let reports = Collected<Salvage>()
  private let size = StorePage.size

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private func open() throws -> DriveStore {
    unlink(directory.lock)
    return try DriveStore(directory: directory, purpose: "a test") { [reports] in reports.append($0) }
  }

  /// Two drives of 60 fences, the first of them sent.
  private func fill() async throws -> DriveStore {
    let store = try open()
    for number in 0..<2 {
      var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(3600 * number)), log: nil)
      try recorder.save(
        sessions: [
          Session(number: 0, testUUID: "T\(number)", started: .start, anchor: .seconds(1), finalized: .seconds(900))
        ],
        fences: (0..<60).map { .sample(number: $0, entered: 10 + Double($0) * 4, latitude: 48 + Double($0) / 1000) },
        seen: .seconds(900))
      try recorder.end(at: .seconds(900), reason: .user)
    }
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    let batch = try #require(try await store.outbox.batches(of: [1], in: [.waiting]).first)
    try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    return store
  }

  private func fences(_ store: DriveStore) throws -> Set<StoredFence> {
    let reader = StoreReader(store)
    return Set(try reader.sessions().flatMap { try reader.fences(of: $0) })
  }

  private func empty(_ store: DriveStore) async throws {
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
  }

  private func damage(_ pages: [Int]) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: directory.database))
    var random = SeededGenerator(seed: 5)
    for page in pages {
      try handle.seek(toOffset: UInt64(page * size))
      try handle.write(contentsOf: Data((0..<512).map { _ in UInt8.random(in: 0...255, using: &random) }))
    }
    try handle.close()
  }

  @Test(
    "when a page that leads to others is damaged, then no fence is lost, and sent fences stay sent",
    arguments: ["the first page", "the pages of definitions", "the table's root"])
  func leadingPages(_ which: String) async throws {
    let store = try await fill()
    let before = try fences(store)
    let root = try await store.database.read {
      try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'fence'") ?? 0
    }
    try await empty(store)
    try store.database.close()
    let file = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    let definitions = (1..<file.count / size).filter { page in
      file[page * size..<(page + 1) * size].range(of: Data("CREATE ".utf8)) != nil
    }
    #expect(!definitions.isEmpty && file[(root - 1) * size] == 5, "the root leads to other pages")
    try damage(which == "the first page" ? [0] : which == "the table's root" ? [root - 1] : definitions)
    let saved = try open()
    #expect(try fences(saved) == before)
    #expect(try StoreReader(saved).sessions().map(\.waitingFences) == [0, 60])
    let report = try #require(reports.all.first)
    #expect((report.fences, report.isReadable, reports.all.count) == (120, true, 1))
  }

  @Test("when the write-ahead log has an impossible page count, then the existing pages are read")
  func damagedCount() async throws {
    let store = try await fill()
    try await empty(store)
    let file = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    try store.database.close()
    let header = [UInt8](repeating: 7, count: 32)
    let frame: [UInt8] = [0, 0, 0, 2, 0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 16)
    let page = file[size..<2 * size]
    try Data(header + frame + page).write(to: URL(fileURLWithPath: directory.database + "-wal"))
    var pages: [[UInt8]] = []
    StorePages(directory.database).forEach { pages.append($0) }
    #expect(pages.count == file.count / size)
    #expect(pages.flatMap { $0 } == [UInt8](file))
  }

  @Test("when the database file is gone, and its log lacks its last pages, then the pages of the log are read")
  func logWithoutFile() async throws {
    let store = try await fill()
    try await empty(store)
    try await store.database.write { try $0.execute(sql: "UPDATE drive SET id = id") }
    let orphan = folder.file("orphan")
    try FileManager.default.copyItem(atPath: directory.database + "-wal", toPath: orphan + "-wal")
    let log = WriteAheadLog(orphan)
    try #require(try #require(log.pages.keys.max()) + 1 < #require(log.pageCount))
    var pages = 0
    StorePages(orphan).forEach { _ in pages += 1 }
    #expect(pages == log.pages.count)
  }

  @Test("when the newest versions of rows are in the write-ahead log only, then these versions are salvaged")
  func writeAheadLog() async throws {
    let store = try await fill()
    try await empty(store)
    try await store.outbox.makeBatches(of: [2], limit: 400, at: .sampleStart)
    let batch = try #require(try await store.outbox.batches(of: [2], in: [.waiting]).first)
    try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    let before = try fences(store)
    // As a power cut leaves them: the log has not reached the file.
    let copy = StateDirectory(path: folder.file("copy"))
    try FileManager.default.copyItem(atPath: directory.path, toPath: copy.path)
    let pages = StorePages(copy.database)
    try store.database.close()
    let new = try DatabaseQueue()
    try Schema.migrator.migrate(new)
    let sent = try await new.write { db in
      try ChecksumFunction.register(db)
      try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
      try PageRescue(to: db).run(pages)
      return try Int.fetchOne(db, sql: "SELECT count(submitted_at) FROM fence")
    }
    #expect(sent == 120 && before.count == 120)
  }

  @Test("when a fence is found both unsent and sent, then it is saved once, as sent")
  func twice() async throws {
    let store = try await fill()
    try await empty(store)
    let pages = StorePages(directory.database)
    try await store.damage("UPDATE fence SET submitted_at = NULL, row_checksum = NULL WHERE number < 3")
    try await store.database.writeWithoutTransaction { db in try PageRescue(to: db).run(pages) }
    #expect(try StoreReader(store).sessions().map(\.submittedFences) == [60, 0])
    #expect(try StoreReader(store).sessions().map(\.fences) == [60, 60])
  }

  @Test("when pages have random bytes, then no record is longer than its page, and nothing traps")
  func anyBytes() {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<2000 {
      var page = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      page += [UInt8](repeating: .random(in: 0...255, using: &random), count: 20)
      page[0] = 0x0D
      for record in PageRecord.all(in: page) { #expect(record.values.count < page.count) }
    }
  }

  @Test("when a record has values of every type, then they are read as SQLite wrote them")
  func types() throws {
    let path = folder.file("types.sqlite")
    let values: [DatabaseValue] = [
      .null, 0.databaseValue, 1.databaseValue, (-1).databaseValue, 300.databaseValue, (-70_000).databaseValue,
      3_000_000_000.databaseValue, 1_795_168_800_000_000.databaseValue, Int64.min.databaseValue, 48.25.databaseValue,
      "Wähler".databaseValue, Data([1, 2]).databaseValue, 16_000_000.databaseValue,
    ]
    let database = try DatabaseQueue(path: path)
    let columns = values.indices.map { "c\($0)" }.joined(separator: ", ")
    try database.write { db in
      try db.execute(sql: "CREATE TABLE t (\(columns))")
      let insertion = "INSERT INTO t (rowid, \(columns)) VALUES (?, \(values.map { _ in "?" }.joined(separator: ", ")))"
      for row in [5, 1 << 40, .max] as [Int64] {
        try db.execute(sql: insertion, arguments: StatementArguments([row.databaseValue] + values))
      }
      try db.execute(sql: "INSERT INTO t (c0) SELECT zeroblob(5000)")
    }
    try database.close()
    var records: [PageRecord] = []
    StorePages(path).forEach { page in records += PageRecord.all(in: page).filter { $0.values.count == values.count } }
    #expect(records.map(\.row) == [5, 1 << 40, .max])
    #expect(records.allSatisfy { $0.values == values })
  }

  @Test(
    "when the store is empty or missing beside drive logs, then a one-line report says so; without logs there is none"
  )
  func missing() throws {
    try FileManager.default.createDirectory(atPath: directory.driveLogs, withIntermediateDirectories: true)
    func begin(isEmptyFile: Bool) throws {
      for suffix in ["", "-wal", "-shm"] { unlink(directory.database + suffix) }
      if isEmptyFile { try Data().write(to: URL(fileURLWithPath: directory.database)) }
      try open().database.close()
    }
    try begin(isEmptyFile: true)
    try begin(isEmptyFile: false)
    #expect(reports.all.isEmpty, "nothing was ever recorded")
    try Data("a way".utf8).write(to: URL(fileURLWithPath: directory.driveLogs + "/way.jsonl"))
    try begin(isEmptyFile: true)
    try begin(isEmptyFile: false)
    let lines = reports.all.map(\.description)
    #expect(lines.count == 2)
    #expect(lines[0].contains("there are drive logs, and an empty file in place of the store"))
    #expect(lines[1].contains("there are drive logs, and no store"))
  }
}
