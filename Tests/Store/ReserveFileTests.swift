import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

/// Disk space reserved for fences.
struct ReserveFileTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func size(in folder: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder + "/ballast")[.size] as? Int
  }

  @Test("when the reserve file is reserved twice, then it exists once, until it is released")
  func keeping() throws {
    let reserveFile = ReserveFile(StateDirectory(path: folder.path))
    #expect(reserveFile.reserve())
    #expect(reserveFile.reserve())
    #expect(try size(in: folder.path) == ReserveFile.size)
    #expect(reserveFile.release())
    #expect(!reserveFile.release())
  }

  @Test("when a power cut leaves only part of the reserve file, then it is reserved again in full")
  func cut() throws {
    let reserveFile = ReserveFile(StateDirectory(path: folder.path))
    for left in [0, 4096, ReserveFile.size - 1] {
      try Data(count: left).write(to: URL(fileURLWithPath: folder.file("ballast")))
      #expect(reserveFile.reserve())
      #expect(try size(in: folder.path) == ReserveFile.size)
    }
  }

  @Test("when the folder is missing, then nothing is reserved")
  func missing() {
    #expect(!ReserveFile(StateDirectory(path: folder.file("nowhere"))).reserve())
  }

  @Test(
    "when the disk has little more free space than the reserve file needs, then no reserve file is reserved",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func noRoom() throws {
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=12m") == 0 else {
      Issue.record("cannot mount: \(String(cString: strerror(errno)))")
      return
    }
    defer { umount2(folder.path, CInt(MNT_DETACH)) }
    #expect(!ReserveFile(StateDirectory(path: folder.path)).reserve())
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(
    "when a store is opened on a full disk, then the reserve file is released, and fences can be saved",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func fullAtStart() throws {
    try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=40m") == 0)
    defer { umount2(folder.path, CInt(MNT_DETACH)) }
    let directory = StateDirectory(path: folder.path)
    do { _ = try DriveStore(directory: directory, purpose: "a test") }
    #expect(ReserveFile(directory).reserve())
    let filler = folder.file("filler")
    let descriptor = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let block = [UInt8](repeating: 1, count: 1 << 12)
    while write(descriptor, block, block.count) > 0 {}
    close(descriptor)
    let store = try DriveStore(directory: directory, purpose: "a test")
    #expect(!FileManager.default.fileExists(atPath: folder.file("ballast")))
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(sessions: [.init(number: 0, started: .start)], fences: [.sample()], seen: .seconds(20))
    #expect(try StoreReader(store).sessions().map(\.fences) == [1])
  }

  @Test(
    "when a store is opened on a disk without free inodes, then the write-ahead log uses the reserve file's, and fences can be saved",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func noInodesAtStart() throws {
    try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=40m,nr_inodes=40") == 0)
    defer { umount2(folder.path, CInt(MNT_DETACH)) }
    let directory = StateDirectory(path: folder.path)
    do { _ = try DriveStore(directory: directory, purpose: "a test") }
    #expect(ReserveFile(directory).reserve())
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains("coverage.sqlite-wal") && names.contains("ballast-2"))
    for number in 0..<40 { close(open(folder.file("filler\(number)"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)) }
    #expect(open(folder.file("one more"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) < 0)
    let store = try DriveStore(directory: directory, purpose: "a test")
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(sessions: [.init(number: 0, started: .start)], fences: [.sample()], seen: .seconds(20))
    #expect(try StoreReader(store).sessions().map(\.fences) == [1])
  }
}
