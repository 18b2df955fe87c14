import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Stores on a medium that nobody can write to, such as a card with its lock set.
@Suite(.enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
struct ReadOnlyMediumTests {
  private let folder: TemporaryFolder
  private let source: StateDirectory

  init() throws {
    folder = try TemporaryFolder()
    source = StateDirectory(path: folder.file("state"))
  }

  /// A store with three fences in the database and two more in the write-ahead log.
  private func record() throws -> DriveStore {
    let store = try DriveStore(copiedTo: source)
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    let fences = (0..<5).map { Fence.sample(number: $0, entered: 10 + Double($0) * 4) }
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: Array(fences[..<3]), seen: .seconds(90))
    try store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try recorder.save(sessions: [], fences: Array(fences[3...]), seen: .seconds(90))
    return store
  }

  /// Runs `body` on a read-only medium with these files of the store.
  private func onMedium(_ suffixes: [String], _ body: (StateDirectory) throws -> Void) throws {
    let disk = folder.file("a card, 100 % full?")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    try #require(mount("tmpfs", disk, "tmpfs", 0, "size=8m") == 0)
    defer { umount2(disk, CInt(MNT_DETACH)) }
    let target = StateDirectory(path: disk + "/state")
    try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: true)
    for suffix in suffixes {
      try FileManager.default.copyItem(atPath: source.database + suffix, toPath: target.database + suffix)
    }
    try #require(mount("tmpfs", disk, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=8m") == 0)
    try body(target)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).count == suffixes.count)
  }

  private func fences(in directory: StateDirectory) throws -> [Int] {
    let reader = try StoreReader(directory: directory)
    return try reader.sessions().flatMap { try reader.fences(of: $0) }.map(\.fence.number)
  }

  @Test("when a store was closed in order, then it is read, although its log and the index are gone")
  func closed() throws {
    try record().database.close()
    #expect(!FileManager.default.fileExists(atPath: source.database + "-shm"))
    try onMedium([""]) { directory in
      let numbers = try fences(in: directory)
      #expect(numbers == [0, 1, 2, 3, 4])
    }
  }

  @Test(
    "when the device lost power, then the fences in the write-ahead log are read as well, with its index or without",
    arguments: [["", "-wal"], ["", "-wal", "-shm"]])
  func killed(_ suffixes: [String]) throws {
    try withExtendedLifetime(try record()) {
      try onMedium(suffixes) { directory in
        let numbers = try fences(in: directory)
        #expect(numbers == [0, 1, 2, 3, 4])
      }
    }
  }

  @Test("when the log is lost and nobody writes, then a reader leaves that for the next start to find")
  func lostLog() throws {
    try withExtendedLifetime(try record()) {
      let target = StateDirectory(path: folder.file("copy"))
      try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: source.database, toPath: target.database)
      #expect(try fences(in: target) == [0, 1, 2])
      #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["coverage.sqlite"])
    }
  }

  @Test("when the file system can be written, then a store is opened as ever: another process may be writing to it")
  func writable() throws {
    try record().database.close()
    #expect(ReadOnlyMedium(holding: source.database, isWriterAlive: true) == nil)
    #expect(try fences(in: source) == [0, 1, 2, 3, 4])
  }
}
