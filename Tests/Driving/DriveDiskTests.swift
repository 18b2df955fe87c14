import Coverage
import Foundation
import Logging
import Store
import TestSupport
import Testing

@testable import Driving

/// The files of a drive: each effect and its answer.
final class DriveDiskTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private let clock = DriveClock(DriveRig.reading(), now: (DriveRig.startedBoot, .now))

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
  }

  private func disk(link: String? = nil, writesLog: Bool = true, logger: Logger = .quiet) throws -> DriveDisk {
    var options = DriveOptions(links: [])
    options.writesLog = writesLog
    return try DriveDisk(
      options, link: link, path: .wifi, clock: clock, store: store, server: "https://one", logger: logger,
      onDiskFull: {})
  }

  private var logs: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: store.directory.driveLogs).sorted() }
  }

  private func write(_ fences: [Fence], started: WallTime = .sampleStart) -> StoreWrite {
    StoreWrite(
      number: 0, started: started,
      sessions: [Session(number: 0, testUUID: "T", started: .start, anchor: .start, loopUUID: "L")],
      fences: fences, seen: .seconds(20))
  }

  private func stored() async throws -> [StoredFence] {
    try await store.reading { reader in try reader.sessions().flatMap { try reader.fences(of: $0) } }
  }

  @Test("when a drive on a link begins, then its log has the start, the path and the link, and the store names the log")
  func begin() throws {
    var disk = try disk(link: "A")
    #expect(try logs == ["2026-11-20T10-00-00.000Z-A.jsonl"])
    #expect(disk.perform(.append(Event(at: .seconds(1), .path(.cellular)), beside: [])) == .logged(trouble: nil))
    #expect(disk.perform(.seal(at: .seconds(1))) == .logged(trouble: nil))
    #expect(disk.perform(.syncLog) == .logged(trouble: nil))
    let recorded = try RecordedDrive(path: store.directory.driveLogs + "/" + (try logs[0]))
    #expect(recorded.header.started == .sampleStart && recorded.header.initialPath == .wifi)
    #expect(recorded.header.link == "A")
    #expect(recorded.events == [Event(at: .seconds(1), .path(.cellular))])
    #expect(recorded.unsealedTail == nil)
  }

  @Test("when two drives begin in the same millisecond, then each has a log of its own")
  func sameName() throws {
    let (first, second) = (try disk(), try disk())
    #expect(try logs.count == 2)
    #expect(first.drive != second.drive)
  }

  @Test("when the log is disabled, then there is no log, and its effects have no answer")
  func noLog() throws {
    var disk = try disk(writesLog: false)
    #expect(try logs.isEmpty)
    #expect(disk.perform(.append(Event(at: .start, .path(.wifi)), beside: [])) == nil)
    #expect(disk.perform(.closeLog(usesReserveFile: true)) == nil)
    #expect(disk.perform(.write(write([.sample()]))) == .written(write([.sample()])))
  }

  @Test("when a write is confirmed, then the store has its rows, and once only if it is repeated")
  func writing() async throws {
    var disk = try disk()
    let write = write([.sample(number: 0), .sample(number: 1, entered: 15)])
    #expect(disk.perform(.write(write)) == .written(write))
    #expect(disk.perform(.write(write)) == .written(write))
    let fences = try await stored()
    #expect(fences.map(\.fence.number) == [0, 1])
    #expect(fences[0].session.loopUUID == "L" && fences[0].session.driveStarted == .sampleStart)
  }

  @Test("when the start has moved, then the next write moves the whole drive")
  func moved() async throws {
    var disk = try disk()
    _ = disk.perform(.write(write([.sample(number: 0)])))
    let later = WallTime.sampleStart.later(by: .seconds(60))
    _ = disk.perform(.write(write([], started: later)))
    #expect(try await stored().map(\.session.driveStarted) == [later])
    #expect(try await stored().map(\.fence.entered) == [.seconds(10)])
  }

  @Test("when the store refuses a write, then the answer has the write and the reason")
  func refused() async throws {
    var disk = try disk()
    // Its session does not exist.
    let orphan = StoreWrite(
      number: 3, started: .sampleStart, sessions: [], fences: [.sample(session: 7)], seen: .start)
    guard case .writeFailed(let write, let failure)? = disk.perform(.write(orphan)) else {
      Issue.record("the store has a fence without a session")
      return
    }
    #expect(write == orphan && !failure.reason.isEmpty && failure.kind != .diskFull)
    #expect(try await stored().isEmpty)
  }

  @Test("when the drive ends, then the store has its fences, and the log is closed without a loss")
  func end() async throws {
    var disk = try disk()
    _ = disk.perform(.write(write([.sample()])))
    #expect(disk.perform(.endDrive(at: .seconds(20), .user)) == .driveEnded(nil))
    #expect(disk.perform(.closeLog(usesReserveFile: true)) == .logClosed(trouble: nil, dropped: 0))
    #expect(try await stored().count == 1)
  }

  @Test("when space is reserved, then it can be released once, and reserved again")
  func reserveFile() throws {
    var disk = try disk()
    let (write, failure) = (write([]), ModelDisk.full)
    #expect(disk.perform(.releaseReserveFile(for: write, failure)) == .reserveFileReleased(true, for: write, failure))
    #expect(disk.perform(.releaseReserveFile(for: write, failure)) == .reserveFileReleased(false, for: write, failure))
    #expect(disk.perform(.makeReserveFile) == .reserveFileMade(true))
  }

  @Test(
    "when no space can be reserved, then the drive begins with a warning that says so; else without",
    arguments: [true, false])
  func withoutReserveFile(hasSpace: Bool) throws {
    if !hasSpace {
      try FileManager.default.createDirectory(
        atPath: store.directory.path + "/ballast", withIntermediateDirectories: false)
    }
    let lines = LogLines(from: .warning)
    var disk = try disk(logger: lines.logger)
    #expect(lines.messages.count { $0.contains("no space is reserved for fences; free some") } == (hasSpace ? 0 : 1))
    #expect(disk.perform(.write(write([.sample()]))) == .written(write([.sample()])))
  }

  @Test(
    "when the drive ends on a full disk, then the reserved space takes the end of the log, after the last fence",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func fullAtTheEnd() throws {
    let mounted = folder.file("disk")
    try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: true)
    try #require(mount("tmpfs", mounted, "tmpfs", 0, "size=30m") == 0)
    defer { umount2(mounted, CInt(MNT_DETACH)) }
    let small = try DriveStore(directory: StateDirectory(path: mounted + "/state"), purpose: "a test")
    var disk = try DriveDisk(
      DriveOptions(links: []), link: nil, path: .wifi, clock: clock, store: small, server: "https://one",
      logger: .quiet, onDiskFull: {})
    let log = try #require(try FileManager.default.contentsOfDirectory(atPath: small.directory.driveLogs).first)
    try Data().write(to: URL(fileURLWithPath: mounted + "/filler"))
    let filler = try #require(FileHandle(forWritingAtPath: mounted + "/filler"))
    for size in [65_536, 4096] { while (try? filler.write(contentsOf: Data(count: size))) != nil {} }
    let long = Event(at: .seconds(1), .radio(Technology(String(repeating: "x", count: 9000))))
    guard case .logged(_?)? = disk.perform(.append(long, beside: [])) else {
      Issue.record("the disk is not full")
      return
    }
    guard case .logClosed(_?, dropped: 0, waiting: 1)? = disk.perform(.closeLog(usesReserveFile: false)) else {
      Issue.record("fences still wait for the reserved space, and the log has taken it")
      return
    }
    #expect(disk.perform(.closeLog(usesReserveFile: true)) == .logClosed(trouble: nil, dropped: 0))
    #expect(try RecordedDrive(path: small.directory.driveLogs + "/" + log).events == [long])
  }

  @Test("when the log is held, then its lines wait in memory, and are written when it is closed")
  func held() throws {
    var disk = try disk()
    let path = store.directory.driveLogs + "/" + (try logs[0])
    #expect(disk.perform(.holdLog(true)) == nil)
    #expect(disk.perform(.append(Event(at: .start, .path(.offline)), beside: [])) == .logged(trouble: nil))
    #expect(try RecordedDrive(path: path).events.isEmpty)
    #expect(disk.perform(.closeLog(usesReserveFile: true)) == .logClosed(trouble: nil, dropped: 0))
    #expect(try RecordedDrive(path: path).events.count == 1)
  }

  @Test("when fences were sent from memory, then the closed log has that, and it stays certain")
  func sentFromMemory() async throws {
    var disk = try disk()
    let write = write([.sample()])
    let memory = try DriveStore.inMemory()
    try await memory.insert(
      DriveInMemory(
        drive: disk.drive, started: write.started, ended: .seconds(20), stopReason: .user, log: nil,
        sessions: write.sessions, fences: write.fences, unstored: [0]), sent: [])
    try await memory.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    try await memory.outbox.markSubmitted(batch: 1, at: .sampleStart)
    var sent = write
    sent.batches = try await memory.batchesInMemory()
    #expect(disk.perform(.write(sent)) == .written(sent))
    #expect(disk.perform(.append(Event(at: .seconds(20), .stop(.user)), beside: [])) == .logged(trouble: nil))
    #expect(disk.perform(.seal(at: .seconds(20))) == .logged(trouble: nil))
    for _ in 0..<2 { #expect(disk.perform(.closeLog(usesReserveFile: true)) == .logClosed(trouble: nil, dropped: 0)) }
    let recorded = try RecordedDrive(path: store.directory.driveLogs + "/" + (try logs[0]))
    #expect(recorded.accepted.map(\.fences) == [[0]] && recorded.unsealed.isEmpty && recorded.unsealedTail == nil)
  }
}
