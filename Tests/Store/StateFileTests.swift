import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Rights, owners and links of a state directory, and errors of its disk.
struct StateFileTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private func open() throws -> DriveStore { try DriveStore(directory: directory, purpose: "a test") }

  private func status(_ path: String) throws -> stat {
    var status = stat()
    try #require(lstat(path, &status) == 0, "\(path)")
    return status
  }

  private func fill(_ store: DriveStore) throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample()], seen: .seconds(100))
  }

  private func modes() throws -> [String: mode_t] {
    var modes: [String: mode_t] = [:]
    for path in directory.files.keys {
      modes[URL(fileURLWithPath: path).lastPathComponent] = try status(path).st_mode & 0o777
    }
    return modes
  }

  @Test("when a store is created, or one with wider permissions is opened, then only the owner can access its files")
  func modesOfFiles() throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    let store = try open()
    try fill(store)
    ReserveFile(directory).reserve()
    #expect(
      Set(try modes().keys) == [
        "coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm", "lock", "ballast", "ballast-2",
        "identity-1.jsonl",
      ])
    let made = try modes()
    #expect(made.values.allSatisfy { $0 == 0o600 }, "\(made)")
    try store.database.close()
    chmod(directory.database, 0o644)
    chmod(directory.lock, 0o644)
    unlink(directory.lock)
    _ = try open()
    let opened = try modes()
    #expect(opened.values.allSatisfy { $0 == 0o600 }, "\(opened)")
  }

  @Test("when others may enter the directory, then a warning says so and what to do")
  func openDirectory() throws {
    _ = try open()
    #expect(directory.warning == nil)
    chmod(directory.path, 0o755)
    #expect(directory.warning?.contains("chmod o= \(directory.path)") == true)
  }

  @Test(
    "when a file of the directory is a symbolic link, then it is not followed, and a one-line error names it",
    arguments: [
      "lock", "ballast", "ballast-2", "drives", "coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm",
      "recovery-due",
    ])
  func links(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    let target = try folder.write("precious", to: "target")
    let link = directory.path + "/" + name
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    let error = #expect(throws: StoreError.self) { _ = try open() }
    #expect(error == .symbolicLink(path: link))
    #expect("\(try #require(error))".contains("\(link) is a symbolic link"))
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
  }

  @Test(
    "when root creates files in the directory, then they belong to the directory's owner",
    .enabled(if: geteuid() == 0, "only root can give files away"))
  func owner() throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    #expect(chown(directory.path, 4711, 4712) == 0)
    let store = try open()
    try fill(store)
    ReserveFile(directory).reserve()
    for path in [directory.driveLogs] + directory.files.keys {
      let status = try status(path)
      #expect(status.st_uid == 4711 && status.st_gid == 4712, "\(path)")
    }
  }

  @Test(
    "when the disk has no inodes left, or is mounted read-only, then the error of a start says so",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func disks() throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    guard mount("tmpfs", directory.path, "tmpfs", 0, "size=1m,nr_inodes=2,mode=700") == 0 else {
      Issue.record("cannot mount: \(String(cString: strerror(errno)))")
      return
    }
    defer { umount2(directory.path, CInt(MNT_DETACH)) }
    let full = #expect(throws: StoreError.self) { _ = try open() }
    #expect("\(try #require(full))".contains("its disk has no inodes left; delete some files on it"))
    #expect(StoreError.sendingTrouble(try #require(full)) != nil, "the stored fences are safe")
    #expect(mount("tmpfs", directory.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "nr_inodes=100") == 0)
    let readOnly = #expect(throws: StoreError.self) { _ = try open() }
    #expect("\(try #require(readOnly))".contains("its disk is mounted read-only; mount it for writing"))
  }

  @Test("when a server's URL has a password, then it is not in the store")
  func password() async throws {
    let store = try open()
    try await store.servers.setClientUUID("C", at: "https://user:s3cret@host:8443/a@b")
    try await store.servers.setGateMemory("{}", at: "https://user:s3cret@host:8443/a@b")
    #expect(try await store.servers.clientUUID(at: "https://host:8443/a@b") == "C")
    #expect(try StoreReader(store).gateMemory(at: "https://other:word@host:8443/a@b") == "{}")
    try store.database.close()
    for file in directory.files.keys {
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)).range(of: Data("s3cret".utf8)) == nil, "\(file)")
    }
  }
}
