import CDiskTrace
import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Reasons why a store cannot be opened, and their messages.
struct TroubleTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private let reports = Collected<Salvage>()

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private func open() throws -> DriveStore {
    try DriveStore(directory: directory, purpose: "a test") { [reports] in reports.append($0) }
  }

  /// Makes a store of five fences, changes it by `sql`, and closes it.
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

  @Test("when the state directory is created, then its parent folder is synced once")
  func durableName() throws {
    let trace = try DiskTrace(folder: folder.path)
    _ = try open()
    let syncs = trace.events.filter { if case .syncFolder = $0 { true } else { false } }
    #expect(syncs.count == 1)
  }

  @Test("when the lock cannot be created, then the error names the directory and the reason")
  func lockIsNoFile() throws {
    try makeDirectory(directory.lock)
    #expect("\(try error { _ = try open() })".contains("cannot use state directory \(directory.path): Is a directory"))
  }

  @Test("when the lock file does not name its holder, then the error names another process")
  func namelessHolder() throws {
    try makeDirectory(directory.path)
    let descriptor = Foundation.open(directory.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    #expect(try error { _ = try open() } == .inUse(directory: directory.path, holder: "another process"))
  }

  // MARK: The file

  @Test("when a folder has the name of the store, then it is set aside, and a new store is created")
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
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(names.count { $0.hasPrefix("coverage.sqlite.corrupt-") } == 2)
  }

  @Test("when the disk does not support a write-ahead log, then the store is refused: it would not be safe")
  func noSharedMemory() throws {
    let disk = try TracedFolder(directory.path)
    disk.trace.set(faults: DISK_WITHOUT_SHARED_MEMORY)
    let refusal = try error { _ = try open() }
    #expect(refusal == .notDurable(path: directory.database, pragma: "journal_mode", value: "delete"))
    #expect("\(refusal)".contains("not safe against power cuts"))
  }

  @Test("when a damaged store cannot be set aside, then the start reports it, and a later one sets it aside")
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
    "when a table's definition or the list of migrations has changed, then the store's content is salvaged",
    arguments: [
      ("DROP TRIGGER fence_updated", "its tables are not as they were made"),
      ("UPDATE grdb_migrations SET identifier = 'x.1.0'", "its list of migrations is damaged"),
      ("UPDATE grdb_migrations SET identifier = x'FF00'", "its list of migrations is damaged"),
    ])
  func definitions(_ change: String, _ damage: String) throws {
    try makeStore(change)
    let store = try open()
    #expect(reports.all.map(\.damage) == [damage])
    #expect(try StoreReader(store).sessions().map(\.fences) == [5])
  }

  @Test("when a row of a damaged store does not match its checksum, then it stays in the old file, and is counted")
  func damagedRow() throws {
    try makeStore("DROP TRIGGER fence_updated; UPDATE fence SET pings = 7 WHERE number = 1")
    let store = try open()
    let report = try #require(reports.all.first)
    #expect((report.fences, report.damagedRows) == (4, 1))
    #expect(report.description.contains("4 fences of 1 session saved, 1 damaged row left out"))
    #expect(try StoreReader(store).damagedRows() == 0)
  }

  @Test("when the end of the file is missing, then the fences before it are salvaged")
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
    #expect(
      StoreError.isDiskFull(DatabaseError(resultCode: .SQLITE_IOERR_WRITE)), "SQLite reports a used-up quota like this")
    #expect(!StoreError.isDiskFull(DatabaseError(resultCode: .SQLITE_IOERR_FSYNC)), "a failing disk is not full")
    #expect(
      StoreError.unusable("f", DatabaseError(resultCode: .SQLITE_BUSY))
        == .unusable(path: "f", reason: "database is locked"))
  }

  @Test(
    "when the store cannot be written, then the reason and the remedy are those of the error",
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
    "when the disk prevents writing to the store, then waiting fences are safe; damage and other errors are no disk trouble"
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

  @Test("when no remedy is known, then none is given")
  func noRemedy() {
    #expect(StoreError.writeTrouble(DatabaseError(resultCode: .SQLITE_CORRUPT)).remedy == nil)
    #expect(StoreError.writeTrouble(StoreError.usedTest("T")) == ("the control server gives test T a second time", nil))
  }

  // MARK: Reading beside the writer

  @Test("when there is no state directory, then a reader reports it")
  func readerWithoutDirectory() throws {
    let missing = try error { _ = try StoreReader(directory: directory) }
    #expect(missing == .unusableDirectory(path: directory.path, reason: "No such file or directory"))
  }

  @Test("when an older version made the store, then a reader names the command that migrates it")
  func readerOfOlderStore() throws {
    try makeStore("UPDATE grdb_migrations SET identifier = '0.0.1'")
    #expect("\(try error { _ = try StoreReader(directory: directory) })".contains("coverage-probe submit brings it up"))
  }

  @Test("when a writer is just creating the store, then a reader finds nothing yet")
  func readerOfEmptyFile() throws {
    try makeDirectory(directory.path)
    try Data().write(to: URL(fileURLWithPath: directory.database))
    #expect(try StoreReader(directory: directory).sessions().isEmpty)
  }

  @Test("when the file is no database, then a reader names the commands that repair it")
  func readerOfGarbage() throws {
    try makeDirectory(directory.path)
    try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: directory.database))
    #expect(
      "\(try error { _ = try StoreReader(directory: directory) })".contains(
        "the next record, agent or submit repairs it"))
  }

  @Test("when the position of a fence is not on Earth, then the fence is not read")
  func nowhere() throws {
    try makeStore("UPDATE fence SET latitude = 480 WHERE number = 1")
    let reader = try StoreReader(directory: directory)
    let session = try #require(try reader.sessions().first)
    #expect(try reader.fences(of: session).map(\.fence.number) == [0, 2, 3, 4])
  }
}

extension DriveStore {
  /// A store opened without the lock of its former writer, as in a later process.
  fileprivate convenience init(beside directory: StateDirectory) throws {
    unlink(directory.lock)
    try self.init(directory: directory, purpose: "a test")
  }
}
