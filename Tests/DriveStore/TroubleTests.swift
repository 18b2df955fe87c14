import CDiskTrace
import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import DriveStore

/// What keeps a store from being opened, and what is said of it.
struct TroubleTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private let reports = SalvageReports()

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private func open() throws -> DriveStore {
    try DriveStore(directory: directory, purpose: "a test") { [reports] in reports.add($0) }
  }

  /// Makes a store of five fences, changes it by `sql` past its triggers, and closes it.
  private func makeStore(_ sql: String = "") throws {
    let store = try open()
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)],
      fences: (0..<5).map { .sample(number: $0, entered: 10 + Double($0) * 4) }, seen: .seconds(100))
    try store.database.inDatabase { try $0.execute(sql: sql) }
    try store.database.close()
  }

  private func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  private func error(_ body: () throws -> Void) throws -> StoreError {
    try #require(#expect(throws: StoreError.self) { try body() })
  }

  // MARK: The directory

  @Test("when the state directory is made, then its name is durable before anything is in it")
  func durableName() throws {
    let trace = try DiskTrace(folder: folder.path)
    _ = try open()
    let syncs = trace.events.filter { if case .syncFolder = $0 { true } else { false } }
    #expect(syncs.count == 1)
  }

  @Test("when the lock cannot be made, then one line says where and what to do")
  func lockIsNoFile() throws {
    try makeDirectory(directory.lock)
    #expect("\(try error { _ = try open() })".contains("cannot use state directory \(directory.path): Is a directory"))
  }

  @Test("when the holder of the lock has not said who it is, then it is another process")
  func namelessHolder() throws {
    try makeDirectory(directory.path)
    let descriptor = Foundation.open(directory.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    #expect(try error { _ = try open() } == .inUse(directory: directory.path, holder: "another process"))
  }

  // MARK: The file

  @Test("when the store's place is taken by a folder, then it is set aside, and a new store takes its place")
  func notAFile() throws {
    let store = try open()
    let reopenings: [() throws -> Void] = [{ try store.repair() }, { _ = try DriveStore(beside: directory) }]
    for reopen in reopenings {
      try FileManager.default.removeItem(atPath: directory.database)
      try makeDirectory(directory.database)
      try reopen()
      var isFolder: ObjCBool = false
      #expect(FileManager.default.fileExists(atPath: directory.database, isDirectory: &isFolder) && !isFolder.boolValue)
    }
    #expect(!directory.damagedStores.isEmpty)
  }

  @Test("when the disk cannot keep a write-ahead log, then the store is not used: it would not be safe")
  func noSharedMemory() throws {
    let disk = try TracedFolder(directory.path)
    disk.trace.set(faults: DISK_WITHOUT_SHARED_MEMORY)
    let refusal = try error { _ = try open() }
    #expect(refusal == .notDurable(path: directory.database, pragma: "journal_mode", value: "delete"))
    #expect("\(refusal)".contains("not safe against power cuts"))
  }

  @Test("when a damaged store cannot be set aside, then the start says so, and a later one does it")
  func cannotBeMoved() throws {
    try makeDirectory(directory.path)
    let garbage = Data(String(repeating: "no database ", count: 500).utf8)
    try garbage.write(to: URL(fileURLWithPath: directory.database))
    let disk = try TracedFolder(directory.path)
    disk.trace.set(faults: DISK_WITHOUT_RENAME)
    #expect("\(try error { _ = try open() })".contains("it cannot be moved: Input/output error"))
    disk.trace.set()
    _ = try DriveStore(directory: directory, purpose: "a test that reads no reports")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(names.count { $0.contains(".corrupt-") } == 1)
  }

  @Test(
    "when a table's definition, or the list of migrations, is another one, then what is in the store is saved",
    arguments: [
      ("DROP TRIGGER fence_updated", "its tables are not as they were made"),
      (
        "UPDATE grdb_migrations SET identifier = '2 bbtches' WHERE identifier = '2 batches'",
        "its list of migrations is damaged"
      ),
    ])
  func definitions(_ change: String, _ damage: String) throws {
    try makeStore(change)
    let store = try open()
    #expect(reports.list.map(\.damage) == [damage])
    #expect(try StoreReader(store).sessions().map(\.fences) == [5])
  }

  @Test("when a row of a damaged store does not fit its checksum, then it stays in the old file, and is counted")
  func damagedRow() throws {
    try makeStore("DROP TRIGGER fence_updated; UPDATE fence SET pings = 7 WHERE number = 1")
    let store = try open()
    let report = try #require(reports.list.first)
    #expect((report.fences, report.damagedRows) == (4, 1))
    #expect(report.description.contains("4 fences of 1 session saved, 1 damaged row left out"))
    #expect(try StoreReader(store).damagedRows() == 0)
  }

  @Test("when the end of the file is missing, then the fences before it are saved")
  func truncated() async throws {
    let store = try open()
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)],
      fences: (0..<300).map { .sample(number: $0, entered: 10 + Double($0) * 4) }, seen: .seconds(2000))
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try store.database.close()
    let file = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    try file.dropLast(8 * 4096).write(to: URL(fileURLWithPath: directory.database))
    let saved = try #require(try StoreReader(DriveStore(beside: directory)).sessions().first)
    #expect((1..<300).contains(saved.fences))
  }

  @Test("when the disk, its rights or another process are to blame for an error, then the store is not damaged")
  func notDamage() {
    #expect(!StoreError.isDamage(DatabaseError(resultCode: .SQLITE_BUSY)))
    #expect(!StoreError.isDamage(CancellationError()))
    #expect(StoreError.isDamage(DatabaseError(resultCode: .SQLITE_CORRUPT)))
    #expect(StoreError.isDiskFull(DatabaseError(resultCode: .SQLITE_FULL)))
    #expect(!StoreError.isDiskFull(CancellationError()))
    #expect(StoreError.isDiskFull(DatabaseError(resultCode: .SQLITE_IOERR_WRITE)), "as a used-up quota is told")
    #expect(!StoreError.isDiskFull(DatabaseError(resultCode: .SQLITE_IOERR_FSYNC)), "a disk that fails has room")
    #expect(
      StoreError.unusable("f", DatabaseError(resultCode: .SQLITE_BUSY))
        == .unusable(path: "f", reason: "database is locked"))
  }

  @Test(
    "when the store cannot be written, then the words and the advice are those of the trouble",
    arguments: [
      (ResultCode.SQLITE_FULL, "the disk is full", "free some space"),
      (.SQLITE_IOERR_WRITE, "the disk fails or a quota is used up", "the kernel's messages"),
      (.SQLITE_READONLY, "this user may not write to it", "the right to"),
      (.SQLITE_BUSY, "another program uses it", "end that program"),
    ])
  func writeTrouble(_ code: ResultCode, _ words: String, _ advice: String) throws {
    let (reason, remedy) = StoreError.writeTrouble(DatabaseError(resultCode: code))
    #expect(reason.contains(words))
    #expect(try #require(remedy).contains(advice))
  }

  @Test(
    "when the disk keeps the store from being written, then all that waits is safe; damage and other errors are no such trouble"
  )
  func sendingTrouble() {
    for code in [ResultCode.SQLITE_FULL, .SQLITE_IOERR_WRITE, .SQLITE_READONLY] {
      #expect(
        StoreError.sendingTrouble(DatabaseError(resultCode: code))?.hasPrefix("cannot write to the store: ") == true)
    }
    #expect(StoreError.sendingTrouble(DatabaseError(resultCode: .SQLITE_CORRUPT)) == nil)
    #expect(StoreError.sendingTrouble(StoreError.usedTest("T")) == nil)
    #expect(StoreError.sendingTrouble(CancellationError()) == nil)
  }

  @Test("when nobody knows a remedy, then none is told")
  func noRemedy() {
    #expect(StoreError.writeTrouble(DatabaseError(resultCode: .SQLITE_CORRUPT)).remedy == nil)
    #expect(StoreError.writeTrouble(StoreError.usedTest("T")) == ("the control server gives test T a second time", nil))
  }

  // MARK: Reading beside the writer

  @Test("when there is no state directory, then a reader says so")
  func readerWithoutDirectory() throws {
    let missing = try error { _ = try StoreReader(directory: directory) }
    #expect(missing == .unusableDirectory(path: directory.path, reason: "No such file or directory"))
  }

  @Test("when an older version made the store, then a reader says what brings it up to date")
  func readerOfOlderStore() throws {
    try makeDirectory(directory.path)
    let old = try DatabaseQueue(path: directory.database)
    try Schema.migrator.migrate(old, upTo: "2 batches")
    try old.close()
    #expect("\(try error { _ = try StoreReader(directory: directory) })".contains("coverage-probe submit brings it up"))
  }

  @Test("when a writer is just making the store, then a reader finds nothing yet")
  func readerOfEmptyFile() throws {
    try makeDirectory(directory.path)
    try Data().write(to: URL(fileURLWithPath: directory.database))
    #expect(try StoreReader(directory: directory).sessions().isEmpty)
  }

  @Test("when the file is no database, then a reader says what to do with it")
  func readerOfGarbage() throws {
    try makeDirectory(directory.path)
    try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: directory.database))
    #expect(
      "\(try error { _ = try StoreReader(directory: directory) })".contains(
        "the next record, agent or submit repairs it"))
  }

  @Test("when a fence lies nowhere on Earth, then it is not handed out")
  func nowhere() throws {
    try makeStore("UPDATE fence SET latitude = 480 WHERE number = 1")
    let reader = try StoreReader(directory: directory)
    let session = try #require(try reader.sessions().first)
    #expect(try reader.fences(of: session).map(\.fence.number) == [0, 2, 3, 4])
  }
}

extension DriveStore {
  /// A store whose writer's lock does not matter, as in a process after this one.
  fileprivate convenience init(beside directory: StateDirectory) throws {
    unlink(directory.lock)
    try self.init(directory: directory, purpose: "a test")
  }
}
