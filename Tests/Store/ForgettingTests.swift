import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

/// Drive logs of sessions that are forgotten.
struct ForgettingTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private var reader: StoreReader { StoreReader(store) }

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  @Test("when the last session of a drive is forgotten, then its drive log goes too, and not before")
  func forgettingLogs() async throws {
    let log = store.directory.driveLogs + "/drive.jsonl"
    try "a way".write(toFile: log, atomically: true, encoding: .utf8)
    // The directory has moved since.
    var recorder = try DriveRecorder(store, started: .sampleStart, log: "/elsewhere/drives/drive.jsonl")
    try recorder.save(
      sessions: [Session(number: 0, started: .start), Session(number: 1, started: .seconds(5))], fences: [],
      seen: .seconds(9))
    let ids = try reader.sessions().map(\.id)
    #expect(try await store.forget(session: ids[0]) { _, _ in }?.keptLog == log)
    #expect(FileManager.default.fileExists(atPath: log))
    #expect(try await store.forget(session: ids[1]) { _, _ in }?.deletedLog == log)
    #expect(!FileManager.default.fileExists(atPath: log))
  }

  @Test(
    "when logs are still to be compared with the store, then the log of a forgotten session stays: it may have others")
  func logOfLostSessions() async throws {
    let log = store.directory.driveLogs + "/drive.jsonl"
    try "a way".write(toFile: log, atomically: true, encoding: .utf8)
    var recorder = try DriveRecorder(store, started: .sampleStart, log: log)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample()], seen: .seconds(20))
    try store.noteRollback()
    let session = try #require(try reader.sessions().first)
    var noted: [Int] = []
    let forgotten = try await store.forget(session: session.id) { number, _ in noted.append(number) }
    #expect(forgotten?.keptLog == log && noted == [0] && FileManager.default.fileExists(atPath: log))
  }

  @Test("when the drive log cannot be deleted, then its session stays, so that both can be forgotten later")
  func undeletableLog() async throws {
    try FileManager.default.removeItem(atPath: store.directory.driveLogs)
    try FileManager.default.createSymbolicLink(
      atPath: store.directory.driveLogs, withDestinationPath: "/proc/self")
    var recorder = try DriveRecorder(store, started: .sampleStart, log: store.directory.driveLogs + "/status")
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample()], seen: .seconds(20))
    let session = try #require(try reader.sessions().first)
    await #expect(throws: (any Error).self) { try await store.forget(session: session.id) { _, _ in } }
    #expect(try reader.sessions() == [session])
  }
}
