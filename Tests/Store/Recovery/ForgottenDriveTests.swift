import Coverage
import Foundation
import Logging
import TestSupport
import Testing

@testable import Store

/// Sessions that are forgotten when the process is killed, or a disk fails, between any two steps.
struct ForgottenDriveTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private let lines = LogLines(from: .info)
  private let log: String

  /// A drive of two sessions, and its log.
  init() async throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
    log = directory.driveLogs + "/drive.jsonl"
    let store = try open(directory)
    let road = try Road(fences: 20, test: "T0", laterTest: "T1")
    try road.log.write(to: URL(fileURLWithPath: log))
    var recorder = try DriveRecorder(store, started: road.header.started, log: log)
    try recorder.save(sessions: road.engine.sessions, fences: road.ended, seen: road.engine.now)
    try recorder.end(at: try #require(road.engine.stopped).at, reason: .user)
  }

  private func open(_ directory: StateDirectory) throws -> DriveStore {
    try DriveStore(directory: directory, purpose: "a test")
  }

  /// Opens the store and recovers it, as a start does.
  private func start(_ directory: StateDirectory) async throws -> DriveStore {
    let store = try open(directory)
    _ = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: lines.logger).run(at: Site.now)
    return store
  }

  private func tests(_ store: DriveStore) throws -> [String: Int] {
    Dictionary(
      uniqueKeysWithValues: try StoreReader(store).sessions().map { ($0.session.testUUID ?? "-", $0.fences) })
  }

  /// The state directory as a kill at this moment leaves it.
  private func copy(_ name: String) throws -> StateDirectory {
    try FileManager.default.copyItem(atPath: directory.path, toPath: folder.file(name))
    return StateDirectory(path: folder.file(name))
  }

  /// The fences by test after a start of `directory`, of a copy without its store, and of `directory` without its store.
  private func starts(_ directory: StateDirectory) async throws -> (
    whole: [String: Int], lost: [String: Int], after: [String: Int]
  ) {
    let path = directory.path + "-lost"
    try FileManager.default.copyItem(atPath: directory.path, toPath: path)
    for name in ["coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm"]
    where access("\(path)/\(name)", F_OK) == 0 {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
    let lost = try tests(try await start(StateDirectory(path: path)))
    let whole = try tests(try await start(directory))
    for name in ["coverage.sqlite", "coverage.sqlite-wal", "coverage.sqlite-shm"]
    where access("\(directory.path)/\(name)", F_OK) == 0 {
      try FileManager.default.removeItem(atPath: "\(directory.path)/\(name)")
    }
    return (whole, lost, try tests(try await start(directory)))
  }

  private static let both = ["T0": 11, "T1": 11]

  @Test("when no session is forgotten, then a lost store is restored with both sessions")
  func control() async throws {
    let starts = try await starts(try copy("copy"))
    #expect(starts.whole == Self.both && starts.lost == Self.both && starts.after == Self.both)
  }

  @Test("when the process is killed before the note in the log, then the next start forgets the session, for good")
  func killedBeforeNote() async throws {
    var killed: StateDirectory?
    do {
      let store = try open(directory)
      _ = try await store.forget(session: 1) { number, log in
        killed = try copy("killed")
        try DriveLogWriter.noteForgotten(session: number, in: log)
      }
    }
    let starts = try await starts(try #require(killed))
    #expect(starts.whole == ["T1": 11] && starts.after == ["T1": 11])
    #expect(starts.lost == Self.both, "the request is lost with the store, and the log has no note of it")
  }

  @Test("when the process is killed after the note in the log, then the next start forgets the session, for good")
  func killedAfterNote() async throws {
    var killed: StateDirectory?
    do {
      let store = try open(directory)
      _ = try await store.forget(session: 1) { number, log in
        try DriveLogWriter.noteForgotten(session: number, in: log)
        killed = try copy("killed")
      }
    }
    let starts = try await starts(try #require(killed))
    #expect(starts.whole == ["T1": 11] && starts.lost == ["T1": 11] && starts.after == ["T1": 11])
    #expect(lines.all.contains { $0.contains("session 1 is deleted now") })
  }

  @Test("when a session is forgotten, then it is not restored from the log, and the other session is")
  func forgotten() async throws {
    do {
      let store = try open(directory)
      let forgotten = try await store.forget(session: 1) { try DriveLogWriter.noteForgotten(session: $0, in: $1) }
      #expect(forgotten?.fences == 11 && forgotten?.keptLog == log)
    }
    let starts = try await starts(try copy("copy"))
    #expect(starts.whole == ["T1": 11] && starts.lost == ["T1": 11] && starts.after == ["T1": 11])
  }

  @Test("when the note in the log fails, then the session stays, even after the store is lost")
  func noteFails() async throws {
    do {
      let store = try open(directory)
      await #expect(throws: DriveLogError.self) {
        try await store.forget(session: 1) { number, _ in
          try DriveLogWriter.noteForgotten(session: number, in: "/proc/self/status")
        }
      }
      #expect(try tests(store) == Self.both)
    }
    let starts = try await starts(try copy("copy"))
    #expect(starts.whole == Self.both && starts.lost == Self.both)
  }

  @Test("when the note in the log fails at every start, then each start reports the interrupted deletion and continues")
  func completionFails() async throws {
    var killed: StateDirectory?
    do {
      let store = try open(directory)
      _ = try await store.forget(session: 1) { _, _ in killed = try copy("killed") }
    }
    let state = try #require(killed)
    let noted = state.driveLogs + "/drive.jsonl"
    try FileManager.default.removeItem(atPath: noted)
    try FileManager.default.createDirectory(atPath: noted, withIntermediateDirectories: false)
    for _ in 0..<2 { #expect(try tests(try await start(state)) == Self.both) }
    #expect(lines.all.filter { $0.contains("session 1 is not wholly deleted") }.count == 2)
  }

  @Test("when the process is killed while it deletes the last session with the log, then the next start completes it")
  func lastSession() async throws {
    let store = try open(directory)
    _ = try await store.forget(session: 1) { try DriveLogWriter.noteForgotten(session: $0, in: $1) }
    try await store.database.write { try $0.execute(sql: "INSERT INTO forgetting (id) VALUES (2)") }
    let killed = try copy("killed")
    #expect(try tests(try await start(killed)) == [:])
    #expect(!FileManager.default.fileExists(atPath: killed.driveLogs + "/drive.jsonl"))
  }

  @Test("when a session is damaged, then it is not forgotten before it is repaired")
  func damaged() async throws {
    let store = try open(directory)
    try await store.database.write { db in
      try db.execute(sql: "DROP TRIGGER session_updated; UPDATE session SET number = 7 WHERE id = 1")
    }
    await #expect(throws: ForgettingError.damaged(session: 1)) {
      try await store.forget(session: 1) { _, _ in Issue.record("the log must not be touched") }
    }
    #expect(try StoreReader(store).sessions().count == 2)
  }
}
