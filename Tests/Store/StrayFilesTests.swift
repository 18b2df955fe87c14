import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Files that a damaged store leaves behind, in the order in which they may be deleted.
struct StrayFilesTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
    try FileManager.default.createDirectory(atPath: directory.driveLogs, withIntermediateDirectories: true)
  }

  /// Makes a file that was last written `microseconds` after the sample start.
  @discardableResult
  private func leave(_ path: String, at microseconds: Int64, size: Int = 1) throws -> String {
    try Data(repeating: 65, count: size).write(to: URL(fileURLWithPath: path))
    let time = WallTime.sampleStart.microseconds + microseconds
    let stamp = timespec(tv_sec: Int(time / 1_000_000), tv_nsec: Int(time % 1_000_000) * 1000)
    try #require(utimensat(AT_FDCWD, path, [stamp, stamp], 0) == 0)
    return path
  }

  private func name(_ path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }

  @Test("when a file has an impossible time, then it is read all the same")
  func impossibleTime() throws {
    // Other file systems cut such a time.
    let path = "/dev/shm/\(UUID().uuidString)"
    defer { unlink(path) }
    try leave(path, at: 0)
    for seconds in [Int.max / 4, -Int.max / 4] {
      let stamp = timespec(tv_sec: seconds, tv_nsec: 0)
      try #require(utimensat(AT_FDCWD, path, [stamp, stamp], 0) == 0)
      #expect(StateDirectory.modified(path) != nil)
    }
  }

  // MARK: Damaged stores

  struct Aside: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The names behind `.corrupt-`, with their ages in seconds.
    let files: KeyValuePairs<String, Int64>
    let former: [String]
  }

  private static let asides = [
    Aside(testDescription: "none", files: [:], former: []),
    Aside(testDescription: "one is the newest", files: ["A": 1, "A-wal": 1], former: []),
    Aside(testDescription: "names do not count", files: ["A": 3, "B": 1, "C": 2], former: ["B", "C"]),
    Aside(
      testDescription: "a log goes with its store, even if it is newer", files: ["A": 1, "A-wal": 9, "B": 2],
      former: ["A", "A-wal"]),
    Aside(testDescription: "a log without its store", files: ["A-wal": 1, "B": 2], former: ["A-wal"]),
    Aside(testDescription: "equal times", files: ["B": 1, "A": 1, "C": 1], former: ["A", "B"]),
  ]

  @Test(
    "when stores were set aside, then all but the newest may go, oldest first, each with its log", arguments: asides)
  func formerStores(_ aside: Aside) throws {
    for (name, age) in aside.files { try leave("\(directory.database).corrupt-\(name)", at: age * 1_000_000) }
    try leave(directory.database, at: 0)
    try leave(directory.database + "-wal", at: 0)
    #expect(directory.formerDamagedStores.map(name) == aside.former.map { "coverage.sqlite.corrupt-\($0)" })
    #expect(
      Set(directory.damagedStores.map(name)) == Set(aside.files.map { "coverage.sqlite.corrupt-\($0.key)" }),
      "the store itself is not among them")
  }

  // MARK: Drive logs

  @Test("when a store was just set aside, with its time in the future, then the log of a new drive is not old")
  func futureStore() throws {
    let log = try leave(directory.driveLogs + "/new.jsonl", at: 7200 * 1_000_000)
    let old = try leave(directory.driveLogs + "/old.jsonl", at: 0)
    let aside = try leave("\(directory.database).corrupt-A", at: 0)
    StateDirectory.setModified(aside, to: WallTime.plausible.upperBound)
    #expect(StateDirectory.modified(aside) == WallTime.plausible.upperBound.microseconds)
    #expect(directory.oldStraysAmongLogs([]) == [old] && FileManager.default.fileExists(atPath: log))
  }

  @Test("when a drive names a log, or a file is no log, then the file is no stray")
  func strays() throws {
    for name in ["b.jsonl", "a.jsonl", "named.jsonl", "notes.txt"] {
      try leave("\(directory.driveLogs)/\(name)", at: 0)
    }
    try FileManager.default.createDirectory(
      atPath: directory.driveLogs + "/folder.jsonl", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: directory.driveLogs + "/link.jsonl", withDestinationPath: directory.driveLogs + "/a.jsonl")
    try leave(directory.path + "/beside.jsonl", at: 0)
    let strays = directory.straysAmongLogs([directory.driveLogs + "/named.jsonl"])
    #expect(strays.map(name) == ["a.jsonl", "b.jsonl"])
  }

  @Test(
    "when a stray log is not an hour older than the newest file, then it stays: its drive may be about to begin",
    arguments: [(-3_600_000_001, true), (-3_600_000_000, false), (0, false)] as [(Int64, Bool)])
  func youngStrays(_ age: Int64, _ isOld: Bool) throws {
    let log = try leave(directory.driveLogs + "/a.jsonl", at: age)
    try leave(directory.path + "/lock", at: 0)
    #expect(directory.oldStraysAmongLogs([]) == (isOld ? [log] : []))
  }

  @Test("when several stray logs are old, then the oldest goes first, regardless of names")
  func orderOfStrays() throws {
    let logs = try [("c", 1), ("a", 3), ("b", 2)].map { name, second in
      try leave("\(directory.driveLogs)/\(name).jsonl", at: second * 1_000_000)
    }
    try leave(directory.path + "/lock", at: 7_200_000_000)
    #expect(directory.oldStraysAmongLogs([]) == [logs[0], logs[2], logs[1]])
  }

  @Test(
    "when a recovery looks for drives without a row, then it reads logs that no row names and that were written since")
  func strayLogs() async throws {
    let store = try DriveStore(directory: directory, purpose: "a test")
    for (name, age) in [("early", -1), ("exact", 0), ("late", 1), ("named", 2), ("of-damaged", 3)] as [(String, Int64)]
    {
      try leave("\(directory.driveLogs)/\(name).jsonl", at: age)
    }
    // The directory may have moved since a row was written.
    _ = try DriveRecorder(store, started: .sampleStart, log: "/elsewhere/drives/named.jsonl")
    let damaged = try DriveRecorder(store, started: .sampleStart, log: "/elsewhere/drives/of-damaged.jsonl")
    try await store.damage("UPDATE drive SET link = 'another' WHERE id = \(damaged.drive)")
    #expect(
      try await store.comparison.strayLogs(before: .sampleStart).filter { !$0.isOld }.map { name($0.path) } == [
        "exact.jsonl", "late.jsonl",
      ])
  }

  // MARK: The directory

  @Test("when files are counted, then links, folders and pipes are not counted, and sizes are those of the files")
  func files() throws {
    try leave(directory.path + "/lock", at: 0, size: 3)
    try leave(directory.driveLogs + "/a.jsonl", at: 0, size: 70)
    #expect(mkfifo(directory.path + "/pipe", 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: directory.path + "/link", withDestinationPath: directory.driveLogs + "/a.jsonl")
    #expect(directory.files == [directory.path + "/lock": 3, directory.driveLogs + "/a.jsonl": 70])
    #expect(StateDirectory(path: folder.file("missing")).files.isEmpty)
  }

  @Test("when a file was written, then its time is read to the microsecond; a missing file has none")
  func times() throws {
    let log = try leave(directory.driveLogs + "/a.jsonl", at: 1_234_567)
    #expect(StateDirectory.modified(log) == WallTime.sampleStart.microseconds + 1_234_567)
    #expect(StateDirectory.modified(log + "-missing") == nil)
  }
}
