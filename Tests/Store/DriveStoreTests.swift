import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

struct DriveStoreTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private func open() throws -> DriveStore { try DriveStore(directory: directory, purpose: "a test") }

  private func recorder(_ store: DriveStore) throws -> DriveRecorder {
    try DriveRecorder(store, started: .sampleStart, log: nil)
  }

  @Test("when a drive is discarded before it began, then it is gone, and a drive with sessions is not")
  func discarded() async throws {
    let store = try open()
    try recorder(store).discard()
    var begun = try recorder(store)
    try begun.save(sessions: [Session(number: 0, testUUID: nil, started: .start)], fences: [], seen: .start)
    try begun.discard()
    #expect(try await store.database.read { try Int64.fetchAll($0, sql: "SELECT id FROM intact_drive") } == [2])
    #expect(try await store.drives.next() == 3)
  }

  // MARK: Opening

  @Test("when a store is opened, then it is in WAL mode with synchronous FULL")
  func durability() async throws {
    let store = try open()
    let (journal, synchronous) = try await store.database.read { db in
      (try String.fetchOne(db, sql: "PRAGMA journal_mode"), try Int.fetchOne(db, sql: "PRAGMA synchronous"))
    }
    #expect(journal == "wal")
    #expect(synchronous == 2)
  }

  @Test("when the store is already open, then opening it again fails and names the process that has it")
  func lock() throws {
    let first = try open()
    let error = #expect(throws: StoreError.self) { try open() }
    #expect("\(try #require(error))".contains("in use by process \(getpid()) (a test)"))
    withExtendedLifetime(first) {}
  }

  @Test("when the store is closed, then it can be opened again")
  func unlock() throws {
    _ = try open()
    _ = try open()
  }

  @Test("when the state directory cannot be created, then a one-line error says where and what to do")
  func unusableDirectory() throws {
    let file = try folder.write("", to: "file")
    let error = #expect(throws: StoreError.self) {
      try DriveStore(directory: StateDirectory(path: file + "/state"), purpose: "a test")
    }
    let line = "\(try #require(error))"
    #expect(line.contains(file))
    #expect(line.contains("set state-directory"))
    #expect(!line.contains("\n"))
  }

  @Test("when a newer version wrote the store, then this one refuses it")
  func newerVersion() async throws {
    try await open().database.write { db in
      try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 of the future')")
    }
    #expect(throws: StoreError.newerVersion(path: directory.database)) { try open() }
  }

  // MARK: Recording

  @Test("when a drive is saved, then it reads back unrounded")
  func roundTrip() throws {
    let store = try open()
    var recorder = try recorder(store)
    let session = Session(
      number: 0, testUUID: "T1", started: .start, anchor: .seconds(1.000001), loopUUID: "L1", equipment: .sample)
    let fence = Fence.sample(
      entered: 10.123456, latitude: 48.208_201_234_5, longitude: 16.373_812_3, radius: 20.123456789,
      rttSumNanoseconds: 1_235_130_007)
    try recorder.save(sessions: [session], fences: [fence], seen: .seconds(20))

    let reader = StoreReader(store)
    let stored = try #require(try reader.sessions().first)
    #expect(stored.session == session)
    #expect(stored.loopUUID == "L1")
    #expect(stored.driveStarted == .sampleStart)
    #expect(stored.state(isWriterAlive: true) == .recording)
    #expect(stored.state(isWriterAlive: false) == .pending)
    #expect(try reader.fences(of: stored).map(\.fence) == [fence])
  }

  @Test("when the same is saved again, then nothing is stored twice, and later figures win")
  func idempotent() throws {
    let store = try open()
    var recorder = try recorder(store)
    let session = Session(number: 0, started: .start)
    let open = Fence.sample(lasted: nil, pings: 3, answered: 3)
    let closed = Fence.sample(lasted: 4, technology: "2G/GSM", pings: 5, answered: 4, isSubmittable: false)
    try recorder.save(sessions: [session], fences: [open], seen: .seconds(11))
    try recorder.save(sessions: [session], fences: [closed], seen: .seconds(15))
    try recorder.save(sessions: [], fences: [closed], seen: .seconds(16))

    let reader = StoreReader(store)
    let stored = try #require(try reader.sessions().first)
    #expect(try reader.fences(of: stored).map(\.fence) == [closed])
    var figures = PingFigures()
    (figures.late, figures.duplicates, figures.meanVariation, figures.kernelMean) = (3, 2, 1_000_001, 30_000_001)
    figures.roundTrip = .init(minimum: 1, median: 2, percentile95: 3, maximum: 4)
    figures.delays = try #require(DelayBins("551=20 702=19"))
    let revised = Fence.sample(figures: figures)
    try recorder.save(sessions: [], fences: [revised], seen: .seconds(20))
    #expect(try reader.fences(of: stored).map(\.fence) == [revised], "every figure reads back unchanged")
    #expect(stored.fences == 1)
    #expect(stored.submittableFences == 0)
    try recorder.save(sessions: [], fences: [.sample(number: 1)], seen: .seconds(21))
    #expect(try reader.fences(of: stored).map(\.id) == [1, 2], "saving again uses up no id")
  }

  @Test("when a drive was interrupted, then its open fence ends when it was last seen")
  func interrupted() async throws {
    do {
      var recorder = try recorder(try open())
      try recorder.save(
        sessions: [Session(number: 0, testUUID: "T1", started: .start, anchor: .start)],
        fences: [.sample(number: 0), .sample(number: 1, entered: 14, lasted: nil)], seen: .seconds(17.5))
    }
    let store = try open()
    try await store.drives.endInterrupted()
    let reader = StoreReader(store)
    let stored = try #require(try reader.sessions().first)
    #expect(stored.session.finalized == .seconds(17.5))
    #expect(try reader.fences(of: stored).map(\.fence.exited) == [.seconds(14), .seconds(17.5)])
  }

  @Test("when a killed drive leaves fences too young for a lost ping, then those without a ping are never submitted")
  func interruptedAtOnce() async throws {
    do {
      var recorder = try recorder(try open())
      try recorder.save(
        sessions: [Session(number: 0, started: .start)],
        fences: [
          .sample(number: 0, pings: 0, answered: 0),
          .sample(number: 1, entered: 14, lasted: 0.2, pings: 0, answered: 0),
          .sample(number: 2, entered: 14.2, lasted: 0.2, pings: 1, answered: 1),
          .sample(number: 3, entered: 14.4, lasted: nil, pings: 0, answered: 0),
        ],
        seen: .seconds(14.5))
    }
    let store = try open()
    try await store.drives.endInterrupted()
    let reader = StoreReader(store)
    let stored = try #require(try reader.sessions().first)
    #expect(try reader.fences(of: stored).map(\.fence.isSubmittable) == [true, false, true, false])
    #expect(try await store.inspection.damagedRows() == 0)
  }

  @Test("when the disk is full, then saving reports it, and the same rows can be saved later")
  func diskFull() async throws {
    let store = try open()
    var recorder = try recorder(store)
    let session = Session(number: 0, started: .start)
    try recorder.save(sessions: [session], fences: [], seen: .start)
    let pages = try await store.database.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
    _ = try await store.database.writeWithoutTransaction {
      try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages)")
    }
    let fences = (0..<400).map { Fence.sample(number: $0, entered: Double($0) * 4) }
    let error = #expect(throws: DatabaseError.self) {
      try recorder.save(sessions: [], fences: fences, seen: .seconds(2000))
    }
    #expect(StoreError.isDiskFull(try #require(error)))
    let stored = try #require(try StoreReader(store).sessions().first)
    #expect(stored.fences == 0, "all or nothing")

    _ = try await store.database.writeWithoutTransaction {
      try Int.fetchOne($0, sql: "PRAGMA max_page_count = 100000")
    }
    try recorder.save(sessions: [], fences: fences, seen: .seconds(2000))
    #expect(try StoreReader(store).sessions().first?.fences == 400)
  }

  // MARK: Reading beside the writer

  @Test("when nothing was ever recorded, then a reader finds nothing and creates no file")
  func emptyDirectory() throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    let reader = try StoreReader(directory: directory)
    #expect(try reader.sessions().isEmpty)
    #expect(!reader.isWriterAlive)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test("when a drive is being recorded, then a reader sees the durable fences")
  func readerBesideWriter() throws {
    let store = try open()
    var recorder = try recorder(store)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample()], seen: .seconds(20))
    let reader = try StoreReader(directory: directory)
    #expect(reader.isWriterAlive)
    #expect(try reader.sessions().map(\.fences) == [1])
    try recorder.save(sessions: [], fences: [.sample(number: 1, entered: 14)], seen: .seconds(20))
    #expect(try reader.sessions().map(\.fences) == [2])
  }

  // MARK: The control server

  @Test("when a control server gives a client UUID, then it is stored for that server alone")
  func clientUUID() async throws {
    let store = try open()
    #expect(try await store.servers.clientUUID(at: "https://one") == nil)
    try await store.servers.setClientUUID("C1", at: "https://one")
    #expect(try await store.servers.clientUUID(at: "https://one") == "C1")
    #expect(try await store.servers.clientUUID(at: "https://two") == nil)
    try await store.servers.setHistoryCursor(17, at: "https://one")
    #expect(try await store.servers.historyCursor(at: "https://one") == 17)
    try await store.servers.setClientUUID("C2", at: "https://one")
    #expect(try await store.servers.historyCursor(at: "https://one") == nil, "another client has another history")
  }
}
