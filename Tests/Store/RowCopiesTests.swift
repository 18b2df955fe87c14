import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Speed tests, the registration and the loop come back from their copies when the store is lost or damaged.
struct RowCopiesTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private static let url = "https://user:secret@host/RMBTControlServer"
  private static let results = #"[{"test_type":"dns","name":"Wähler \"ü\""}]"#

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  /// - Parameter lock: As the process before left it.
  private func open(lock: Data? = nil) throws -> DriveStore {
    unlink(directory.lock)
    try lock?.write(to: URL(fileURLWithPath: directory.lock))
    return try DriveStore(directory: directory, purpose: "a test")
  }

  private func ended(_ uuid: String, in store: DriveStore) async throws -> Int64 {
    var start = SpeedTestOutbox.Start(
      controlServer: Self.url, clientUUID: "C", testUUID: uuid, token: "a_1_b", started: .sampleStart)
    (start.loopUUID, start.number, start.place) = ("L1", 3, Coordinate(latitude: 48, longitude: 16.370_000_000_1))
    let id = try await store.speedTests.begin(start)
    try await store.speedTests.end(id, .init(.completed, at: .sampleStart.later(by: .seconds(20)), figures: .sample()))
    return id
  }

  /// A test in each state; two with QoS results.
  private func fill(_ store: DriveStore) async throws -> [StoredSpeedTest] {
    let tests = store.speedTests
    for uuid in ["W", "S", "D", "Q", "R"] {
      let id = try await ended(uuid, in: store)
      if uuid == "Q" || uuid == "D" { try await tests.add(qos: Self.results, to: id) }
      if uuid != "W" { try await tests.beginSending(id, .result, at: .sampleStart) }
      if uuid == "Q" || uuid == "D" { try await tests.markSubmitted(id, .result, at: .sampleStart) }
      if uuid == "D" { try await tests.markSubmitted(id, .qos, at: .sampleStart) }
      if uuid == "R" { try await tests.quarantine(id, .result, reason: "no", at: .sampleStart) }
    }
    _ = try await store.speedTests.begin(
      .init(controlServer: Self.url, clientUUID: "C", testUUID: "M", token: "t", started: .sampleStart))
    try await store.servers.setClientUUID("C0", at: Self.url)
    try await store.servers.setClientUUID("C", at: Self.url)
    try await store.servers.setHistoryCursor(7, at: Self.url)
    try await store.loop.persist("memory")
    return try StoreReader(store).speedTests()
  }

  private func expect(_ tests: [StoredSpeedTest], in store: DriveStore) async throws {
    // A store that was made again has another identity.
    func withoutStore(_ test: StoredSpeedTest) -> StoredSpeedTest {
      var test = test
      test.store = nil
      return test
    }
    #expect(try StoreReader(store).speedTests().map(withoutStore) == tests.map(withoutStore))
    #expect(try StoreReader(store).damagedRows() == 0)
    #expect(try await store.servers.clientUUID(at: Self.url) == "C")
    #expect(try await store.servers.historyCursor(at: Self.url) == 7)
    #expect(try await store.loop.memory() == "memory")
  }

  @Test(
    "when files of the store are lost or damaged, then each speed test has its figures, QoS results and state again",
    arguments: ["removed", "emptied", "noise", "without its log"])
  func lost(_ how: String) async throws {
    let store = try open()
    // A start after the last checkpoint: the rows are in the write-ahead log only.
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    let tests = try await fill(store)
    let kept = try ["", "-wal", "-shm"].map { try Data(contentsOf: URL(fileURLWithPath: directory.database + $0)) }
    let lock = try Data(contentsOf: URL(fileURLWithPath: directory.lock))
    try store.database.close()
    // As a kill leaves them.
    for (suffix, data) in zip(["", "-wal", "-shm"], kept) {
      try data.write(to: URL(fileURLWithPath: directory.database + suffix))
    }
    let path = directory.database
    switch how {
    case "removed": for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    case "without its log": unlink(path + "-wal")
    case "emptied": for suffix in ["", "-wal", "-shm"] { try Data().write(to: URL(fileURLWithPath: path + suffix)) }
    default: try Data(repeating: 0x5A, count: 9000).write(to: URL(fileURLWithPath: path))
    }
    try await expect(tests, in: open(lock: lock))
  }

  @Test("when a bit of a row flips, then the next start has the row as it was")
  func flipped() async throws {
    var store = try open()
    let tests = try await fill(store)
    try await store.damage(
      "UPDATE speed_test SET state = 'waiting'; UPDATE registration SET client_uuid = 'D'; UPDATE loop SET memory = ''")
    try store.database.close()
    store = try open()
    try await expect(tests, in: store)
  }

  @Test("when a copy was changed or cut off, then it says nothing: the store's row stays, or nothing comes back")
  func damagedCopy() async throws {
    var store = try open()
    let tests = try await fill(store)
    try store.database.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.copies) {
      let path = directory.copies + "/" + name
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let changed = name.hasSuffix("1.jsonl") ? String(text.dropLast(9)) : text.replacing("sampled", with: "x") + " "
      try changed.replacing("waiting", with: "sending").replacing("\"C\"", with: "\"X\"").write(
        toFile: path, atomically: true, encoding: .utf8)
    }
    try RecoveryMark(directory).set(.rolledBack)
    store = try open()
    #expect(try StoreReader(store).speedTests() == tests)
    try store.database.close()
    unlink(directory.database)
    store = try open()
    let states = Set(try StoreReader(store).speedTests().map(\.state))
    #expect(!states.contains(.waiting) && states.isSubset(of: Set(tests.map(\.state))))
    #expect(try await store.servers.clientUUID(at: Self.url) == nil)
  }

  @Test("when tests are forgotten or old, then their copies are gone with them, and nothing brings them back")
  func deleted() async throws {
    var store = try open()
    let tests = try await fill(store)
    #expect(try await store.speedTests.forget(tests[0].id))
    let later = WallTime.sampleStart.later(by: .seconds(400 * 86_400))
    #expect(try await store.cleanup.run(Retention(), now: later, agreement: .agrees, except: nil).speedTests == 4)
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.copies).filter { $0.hasPrefix("speed") }
    #expect(left == ["speed_test-6.jsonl"], "it runs")
    try store.database.close()
    unlink(directory.database)
    store = try open()
    #expect(try StoreReader(store).speedTests().map(\.testUUID).sorted() == ["M"])
  }

  @Test("when a copy cannot be written, then there is none: an old one would say that the test was not sent")
  func unwritable() async throws {
    let store = try open()
    let id = try await ended("T", in: store)
    let path = RowCopies(directory).path(.speedTest, id)
    #expect(FileManager.default.fileExists(atPath: path))
    try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: true)
    try await store.speedTests.beginSending(id, .result, at: .sampleStart)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("when a store is made again, then it has another identity, for its numbers begin again")
  func identity() async throws {
    func identity(_ store: DriveStore) throws -> String? { try StoreReader(store).identity()?.uuid }
    var store = try open()
    _ = try DriveRecorder(store, started: .sampleStart, log: nil)
    let first = try identity(store)
    #expect(first.flatMap(UUID.init(uuidString:)) != nil)
    // A damaged one is restored from its copy, and a lost copy is made again.
    try await store.damage("UPDATE identity SET uuid = 'x'")
    #expect(try identity(store) == nil)
    store = try open()
    #expect(try identity(store) == first)
    // Also when its page is noise, as long as the ids in the store are the same.
    let root = try await store.database.read {
      try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'identity'")
    }
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try store.database.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.database))
    try file.seek(toOffset: UInt64(try #require(root) - 1) * 4096)
    try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
    try file.close()
    store = try open()
    #expect(try identity(store) == first)
    unlink(RowCopies(directory).path(.identity, 1))
    store = try open()
    #expect(FileManager.default.fileExists(atPath: RowCopies(directory).path(.identity, 1)))
    try store.database.close()
    unlink(directory.database)
    #expect(try ![nil, first].contains(identity(open())))
  }
}
