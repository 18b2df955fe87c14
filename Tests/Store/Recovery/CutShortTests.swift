import Coverage
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Recoveries that are cut short because a drive comes first.
struct CutShortTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private let lines = LogLines(from: .info)

  /// Three logs whose store is lost.
  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
    try FileManager.default.createDirectory(atPath: directory.driveLogs, withIntermediateDirectories: true)
    for number in 0..<3 {
      let road = try Road(
        fences: 10, started: .sampleStart.later(by: .seconds(3600 * number)), test: "T\(number)", start: Double(number))
      try road.log.write(to: URL(fileURLWithPath: "\(directory.driveLogs)/\(number).jsonl"))
    }
  }

  private func open(client: String? = "C") async throws -> DriveStore {
    let store = try DriveStore(directory: directory, purpose: "a test")
    if let client { try await store.servers.setClientUUID(client, at: "https://one") }
    return store
  }

  private func recovery(_ store: DriveStore) -> Recovery {
    Recovery(store, maxAge: .seconds(7 * 86_400), logger: lines.logger)
  }

  /// Records a drive with its log, as if now.
  private func record(_ store: DriveStore) throws {
    let road = try Road(fences: 10, started: .sampleStart.later(by: .seconds(5 * 3600)), test: "NEW", start: 5)
    let log = directory.driveLogs + "/new.jsonl"
    try road.log.write(to: URL(fileURLWithPath: log))
    var recorder = try DriveRecorder(store, started: road.header.started, log: log)
    try recorder.save(sessions: road.engine.sessions, fences: road.ended, seen: road.engine.now)
    try recorder.end(at: try #require(road.engine.stopped).at, reason: .user)
  }

  private func tests(_ store: DriveStore) throws -> [String: Int] {
    Dictionary(
      uniqueKeysWithValues: try StoreReader(store).sessions().map { ($0.session.testUUID ?? "-", $0.fences) })
  }

  @Test("when a drive comes first, then the other logs wait with a mark, and a later recovery restores each once")
  func resumed() async throws {
    let store = try await open()
    let asked = Mutex(0)
    let first = try await recovery(store).run(at: Site.now) {
      asked.withLock {
        $0 += 1
        return $0 > 1
      }
    }
    #expect(first.isCutShort && first.recovered == 11, "one log before the second question")
    #expect(store.recoveryNeed == .rolledBack)
    try record(store)
    let second = try await recovery(store).run(at: Site.now)
    #expect(!second.isCutShort && second.recovered == 22)
    #expect(store.recoveryNeed == .none)
    #expect(try tests(store) == ["T0": 11, "T1": 11, "T2": 11, "NEW": 11])
    #expect(try await recovery(store).run(at: Site.now) == Recovery.Outcome(), "nothing is left")
  }

  @Test("when a process ends with logs left, then the next start restores them")
  func nextStart() async throws {
    do {
      let store = try await open()
      #expect(try await recovery(store).run(at: Site.now) { true }.recovered == 0)
    }
    let store = try await open()
    #expect(try await recovery(store).run(at: Site.now).recovered == 33)
  }

  @Test("when logs are left, then neither their age nor the quota deletes one")
  func kept() async throws {
    let store = try await open()
    _ = try await recovery(store).run(at: Site.now) { true }
    for log in directory.straysAmongLogs([]) { StateDirectory.setModified(log, to: .earliestTrusted) }
    let logs = Set(directory.straysAmongLogs([]))
    _ = try await store.cleanup.run(
      Retention(maxAge: .seconds(1), keep: .seconds(1)), now: Site.now, agreement: .agrees, except: nil)
    _ = try await store.space.keepWithin(Quota(bytes: 1, fences: 1), except: nil)
    #expect(Set(directory.straysAmongLogs([])) == logs)
    let later = Site.now.later(by: .seconds(8 * 86_400))
    #expect(try await recovery(store).run(at: later).recovered == 0, "they are too old to be sent")
    _ = try await store.space.keepWithin(Quota(bytes: 1, fences: 1), except: nil)
    #expect(directory.straysAmongLogs([]).isEmpty, "without a mark the quota deletes them")
  }

  @Test("when the client UUID is lost too, then no log is left: another client's history would show nothing of them")
  func withoutClient() async throws {
    let outcome = try await recovery(try await open(client: nil)).run(at: Site.now) { true }
    #expect(!outcome.isCutShort && outcome.recovered == 33)
  }

  @Test("when a drive was interrupted, then it is compared first, and in any case: a pass would end it")
  func interrupted() async throws {
    let store = try await open()
    let road = try Road(
      fences: 10, started: .sampleStart.later(by: .seconds(5 * 3600)), test: "CUT", isCut: true, start: 5)
    let log = directory.driveLogs + "/cut.jsonl"
    try road.log.write(to: URL(fileURLWithPath: log))
    var recorder = try DriveRecorder(store, started: road.header.started, log: log)
    try recorder.save(sessions: road.engine.sessions, fences: Array(road.ended.prefix(4)), seen: road.engine.now)
    let outcome = try await recovery(store).run(at: Site.now) { true }
    #expect(outcome.isCutShort && outcome.recovered > 0)
    #expect(try tests(store).keys.sorted() == ["CUT"])
  }
}
