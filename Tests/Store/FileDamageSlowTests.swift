import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Files that a worn disk, a power cut or another program has damaged.
struct FileDamageSlowTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private let reports = Collected<Salvage>()

  /// - Parameter isLarge: Whether to treat the store as too large to be read completely at a start.
  private func open(isLarge: Bool = false) throws -> DriveStore {
    var file = StoreFile(directory: directory) { [reports] in reports.append($0) }
    if isLarge { file.readAtStart = 0 }
    return try DriveStore(file, purpose: "a test")
  }

  /// Five drives of 60 fences: one sent, one in doubt, one waiting in a batch, two without a batch. Returns the file.
  private func fill() async throws -> Data {
    let store = try open()
    for number in 0..<5 {
      var recorder = try DriveRecorder(
        store, started: .sampleStart.later(by: .seconds(3600 * number)), log: "log \(number)")
      try recorder.save(
        sessions: [
          Session(number: 0, testUUID: "T\(number)", started: .start, anchor: .seconds(1), finalized: .seconds(900))
        ],
        fences: (0..<60).map { .sample(number: $0, entered: 10 + Double($0) * 4, latitude: 48 + Double($0) / 1000) },
        seen: .seconds(900))
      try recorder.end(at: .seconds(900), reason: .user)
    }
    try await store.servers.setClientUUID("C", at: "https://one")
    try await store.servers.setGateMemory("{}", at: "https://one")
    try await store.outbox.makeBatches(of: [1, 2, 3], limit: 400, at: .sampleStart)
    let batches = try await store.outbox.batches(of: [1, 2], in: [.waiting])
    try await store.outbox.markSubmitted(batch: batches[0].id, at: .sampleStart)
    try await store.outbox.beginSending(batch: batches[1].id, fences: 60, client: "C", at: .sampleStart)
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try store.database.close()
    return try Data(contentsOf: URL(fileURLWithPath: directory.database))
  }

  private func write(_ file: Data) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
    where name.hasPrefix("coverage.sqlite") {
      try FileManager.default.removeItem(atPath: directory.path + "/" + name)
    }
    try file.write(to: URL(fileURLWithPath: directory.database))
  }

  private func fences(_ store: DriveStore) throws -> [StoredFence] {
    let reader = StoreReader(store)
    return try reader.sessions().flatMap { try reader.fences(of: $0) }
  }

  private var filesAside: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
        $0.hasPrefix("coverage.sqlite.corrupt-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
      }
    }
  }

  @Test(
    "when the file is no database, then it is set aside unchanged, a new store is created, and a one-line report says so"
  )
  func noDatabase() throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    let garbage = Data(String(repeating: "no database ", count: 500).utf8)
    try garbage.write(to: URL(fileURLWithPath: directory.database))
    let store = try open()
    #expect(try StoreReader(store).sessions().isEmpty)
    let report = try #require(reports.all.first)
    #expect(report.description.contains("nothing in it can be read"))
    #expect(!report.description.contains("\n"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: report.setAside)) == garbage)
  }

  @Test("when a page of fences is zeroed, then all other fences are salvaged, and their batches keep their states")
  func zeroedPage() async throws {
    var file = try await fill()
    let size = 4096
    // A leaf in the middle of the table of fences.
    let page = try #require(
      (1..<file.count / size).first { page in
        file[page * size] == 0x0D && file[page * size..<(page + 1) * size].range(of: Data("4G/LTE".utf8)) != nil
          && page > file.count / size / 2
      })
    file.replaceSubrange(page * size..<(page + 1) * size, with: Data(count: size))
    try write(file)
    let store = try open()
    let report = try #require(reports.all.first)
    #expect(report.fences >= 260)
    #expect(report.fences < 300)
    #expect(try fences(store).count == report.fences)
    #expect(try filesAside.count == 1)
    #expect(try await store.servers.clientUUID(at: "https://one") == "C")
    #expect(try StoreReader(store).gateMemory(at: "https://one") == "{}")
    #expect(
      try await store.outbox.batches(of: [1, 2, 3], in: [.submitted, .sending, .waiting]).map(\.state) == [
        .submitted, .sending, .waiting,
      ])
    #expect(try await store.drives.next() == 6)
  }

  @Test("when the power fails before the salvaged file replaces the store, then the next start uses the salvaged file")
  func cutInReplacement() async throws {
    let file = try await fill()
    try write(Data(count: 5000))
    try file.write(to: URL(fileURLWithPath: directory.database + ".salvaged"))
    #expect(try fences(open()).count == 300)
    #expect(try filesAside.count == 1)
  }

  @Test(
    "when the store is empty or missing beside drive logs, then a one-line report says so; without logs there is none")
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

  @Test("when the salvaged file is a database without tables, then a good store stays")
  func tablelessReplacement() async throws {
    let file = try await fill()
    try write(file)
    let replacement = try DatabaseQueue(path: directory.database + ".salvaged")
    try await replacement.write { try $0.execute(sql: "CREATE TABLE other (a)") }
    try replacement.close()
    #expect(try fences(open()).count == 300)
    #expect(!FileManager.default.fileExists(atPath: directory.database + ".salvaged"))
  }

  @Test("when the salvaged file is empty or damaged, then a good store stays", arguments: [0, 5000])
  func badReplacement(_ bytes: Int) async throws {
    let file = try await fill()
    try write(file)
    try Data(count: bytes).write(to: URL(fileURLWithPath: directory.database + ".salvaged"))
    #expect(try fences(open()).count == 300)
    #expect(!FileManager.default.fileExists(atPath: directory.database + ".salvaged"))
  }

  @Test(
    "when a directory or a pipe has the name of one of the store's files, then it is set aside, and the start goes on",
    arguments: ["", "-wal", "-shm", "-journal", ".partial", ".salvaged"], [true, false])
  func noFile(_ suffix: String, isDirectory: Bool) async throws {
    let file = try await fill()
    try write(file)
    try FileManager.default.createDirectory(atPath: directory.driveLogs, withIntermediateDirectories: true)
    try Data("{}".utf8).write(to: URL(fileURLWithPath: directory.driveLogs + "/drive.jsonl"))
    let path = directory.database + suffix
    unlink(path)
    try #require(isDirectory ? mkdir(path, 0o700) == 0 : mkfifo(path, 0o600) == 0)
    let store = try open()
    #expect(try fences(store).count == (suffix.isEmpty ? 0 : 300))
    #expect(store.recoveryNeed == (["", "-wal"].contains(suffix) ? .rolledBack : .none))
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(names.contains { $0.hasPrefix("coverage.sqlite.corrupt-") && $0.hasSuffix(suffix) })
  }

  @Test("when rows contradict each other, then the store is still usable, with every row that is certain")
  func contradictions() async throws {
    let store = try open()
    _ = try DriveRecorder(store, started: .sampleStart, log: nil)
    try await store.database.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA foreign_keys = OFF;
          INSERT INTO session (id, drive_id, number, started_at) VALUES (9223372036854775807, 1, 0, 1);
          INSERT INTO batch (id, session_id, state) VALUES (9223372036854775807, 1, 'waiting');
          DROP TRIGGER fence_updated;
          """)
    }
    try store.repair()
    #expect(reports.all.map(\.damagedRows) == [2])
    #expect(try await store.drives.next() == 2)
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample()], seen: .start)
  }

  @Test("when the file is damaged while a drive writes, then the drive repairs it and continues")
  func midDrive() async throws {
    let store = try open()
    var recorder = try DriveRecorder(store, started: .sampleStart, log: "log")
    let session = Session(number: 0, testUUID: "T", started: .start, anchor: .start)
    let fences = (0..<200).map { Fence.sample(number: $0, entered: 10 + Double($0) * 4) }
    try recorder.save(sessions: [session], fences: fences, seen: .seconds(900))
    try await store.database.writeWithoutTransaction { db in
      _ = try db.checkpoint(.truncate)
      try db.execute(sql: "PRAGMA cache_size = 0; PRAGMA shrink_memory")
    }
    var file = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    for page in 1..<file.count / 4096 { file.replaceSubrange(page * 4096..<page * 4096 + 100, with: Data(count: 100)) }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.database))
    try handle.write(contentsOf: file)
    try handle.close()
    let error = #expect(throws: DatabaseError.self) {
      try recorder.save(sessions: [session], fences: fences, seen: .seconds(900))
    }
    #expect(StoreError.isDamage(try #require(error)))
    try recorder.repair()
    try recorder.save(sessions: [session], fences: fences, seen: .seconds(900))
    #expect(try self.fences(store).map(\.fence) == fences)
    #expect(reports.all.count == 1)
  }

  // MARK: A file too large to be read completely at a start

  /// Zeroes a leaf in the middle of the table of fences.
  private func withZeroedLeaf(_ file: Data) throws -> Data {
    var file = file
    let page = try #require(
      (file.count / 8192..<file.count / 4096).first { page in
        let bytes = file[page * 4096..<(page + 1) * 4096]
        return bytes.first == 0x0D && bytes.range(of: Data("4G/LTE".utf8)) != nil
      })
    file.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
    return file
  }

  @Test(
    "when a large store is intact, then a start reads only part of it and leaves no trace, and the check finds nothing")
  func largeIntact() async throws {
    try write(try await fill())
    let store = try open(isLarge: true)
    #expect(!store.store.isRead)
    #expect(try await store.drives.next() == 6)
    #expect(try fences(store).count == 300)
    try await store.checkFile()
    #expect(store.store.isRead)
    #expect(reports.all.isEmpty)
    #expect(store.recoveryNeed == .none)
  }

  @Test(
    "when a large store is damaged in a page that a start does not read, then a drive begins, and the check repairs the store"
  )
  func largeDamaged() async throws {
    try write(try withZeroedLeaf(try await fill()))
    let store = try open(isLarge: true)
    #expect(reports.all.isEmpty)
    var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(90_000)), log: nil)
    let session = Session(number: 0, started: .start)
    try recorder.save(sessions: [session], fences: [.sample(number: 0)], seen: .start)
    try await store.checkFile()
    #expect(reports.all.count == 1)
    try recorder.save(sessions: [session], fences: [.sample(number: 0), .sample(number: 1)], seen: .start)
    #expect(try await store.reading { try $0.sessions().last?.fences } == 2)
    #expect(try (262..<302).contains(fences(store).count))
    #expect(store.recoveryNeed == .damaged)
  }

  @Test("when a page that a start needs is damaged in a large store, then the start reads and repairs all of it")
  func largeDamagedAtStart() async throws {
    let file = try await fill()
    // The root of each table has a page near the beginning.
    var damaged = file
    for page in 2..<30 { damaged.replaceSubrange(page * 4096..<page * 4096 + 100, with: Data(count: 100)) }
    try write(damaged)
    let store = try open(isLarge: true)
    #expect(store.store.isRead)
    #expect(reports.all.count == 1)
  }

  /// writer:  begins a transaction, waits for the gate ................. commits
  /// check:                                             reads the file
  @Test("when a fence is being written, then the check of the file does not wait for it", .timeLimit(.minutes(5)))
  func checkBesideTransaction() async throws {
    try write(try await fill())
    let store = try open(isLarge: true)
    let gate = DispatchSemaphore(value: 0)
    let (entries, entered) = AsyncStream<Void>.makeStream()
    async let written: Void = store.database.write { db in
      try db.execute(sql: "UPDATE fence SET pings = pings + 1")
      entered.yield()
      gate.wait()
    }
    for await _ in entries { break }
    try await store.checkFile()
    gate.signal()
    try await written
    #expect(store.store.isRead)
  }

  // MARK: At random

  /// 1,000 with `STORE_DAMAGES=1000`.
  private static let damages = ProcessInfo.processInfo.environment["STORE_DAMAGES"].flatMap { Int($0) } ?? 6

  private enum Kind: CaseIterable { case bit, bits, zeroedPage, truncation, swappedPages, noise }

  private func damaged(_ file: Data, _ kind: Kind, _ random: inout SeededGenerator) -> Data {
    var file = file
    let size = 4096
    func flip() { file[Int.random(in: 0..<file.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
    func page() -> Range<Int> {
      let start = Int.random(in: 0..<file.count / size, using: &random) * size
      return start..<start + size
    }
    switch kind {
    case .bit: flip()
    case .bits: for _ in 0..<20 { flip() }
    case .zeroedPage: file.replaceSubrange(page(), with: Data(count: size))
    case .truncation: file.removeLast(Int.random(in: 1..<file.count, using: &random))
    case .swappedPages:
      let (one, other) = (page(), page())
      let (first, second) = (Data(file[one]), Data(file[other]))
      file.replaceSubrange(one, with: second)
      file.replaceSubrange(other, with: first)
    case .noise:
      let start = Int.random(in: 0..<file.count - 512, using: &random)
      for index in start..<start + 512 { file[index] = .random(in: 0...255, using: &random) }
    }
    return file
  }

  @Test(
    "when the file is damaged at random, then every start succeeds by itself, and no altered row is read as intact",
    arguments: [false, true])
  func random(isLarge: Bool) async throws {
    let file = try await fill()
    try write(file)
    let original = Set(try fences(open()))
    #expect(original.count == 300)
    let originalFences = Set(original.map(\.fence))
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    var tally: [Kind: (fences: Int, runs: Int, salvages: Int)] = [:]
    for number in 0..<Self.damages {
      let kind = Kind.allCases[number % Kind.allCases.count]
      try write(damaged(file, kind, &random))
      let before = reports.all.count
      let store = try open(isLarge: isLarge)
      try await store.checkFile()
      // Fences salvaged without their session wait for one, as after any crash.
      _ = try await store.orphans.adopt(lastSeenBefore: .sampleStart.later(by: .seconds(1_000_000)))
      let found = try fences(store)
      for stored in found where !original.contains(stored) {
        // It may have lost its batch or its session, but its figures are unchanged.
        #expect(
          originalFences.contains {
            $0.number == stored.fence.number && $0.centre == stored.fence.centre
              && $0.pings == stored.fence.pings && $0.rttSumNanoseconds == stored.fence.rttSumNanoseconds
          }, "\(kind)")
      }
      let aside = try filesAside.count
      #expect(aside == reports.all.count - before)
      tally[kind, default: (0, 0, 0)].fences += found.count
      tally[kind, default: (0, 0, 0)].runs += 1
      tally[kind, default: (0, 0, 0)].salvages += aside
      try store.database.close()
    }
    for (kind, counts) in tally.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      print(
        "\(isLarge ? "large store" : "store") damage \(kind): \(counts.runs) starts, \(counts.salvages) salvages, \(counts.fences) of \(counts.runs * 300) fences"
      )
    }
  }
}
