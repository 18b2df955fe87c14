import Coverage
import Foundation
import GRDB
import Logging
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Two damaged pages of a store: the row of a sent batch, and some of its fences. The drive log is intact.
@Suite(.serialized)
struct SentTwiceSlowTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private let lines = LogLines(from: .info)
  private let tool: ControlServerTool
  private let client: ControlServerClient
  private var log: String { directory.driveLogs + "/drive.jsonl" }

  init() async throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
    tool = try await ControlServerTool([])
    client = try ControlServerClient(
      url: tool.url, caFile: nil, requestTimeout: .seconds(60),
      device: Device(
        model: "test", device: "test", osVersion: "1", language: "en", timezone: "Etc/UTC", softwareVersion: "1.0",
        softwareVersionCode: 1, softwareRevision: "test"))
  }

  private static var now: WallTime { WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }

  private func open() throws -> DriveStore {
    try DriveStore(directory: directory, purpose: "a test") { [lines] in lines.append("\($0)") }
  }

  private func sender(_ store: DriveStore) throws -> Sender {
    let boot = Duration.seconds(100_000)
    let clock = SenderClock(wall: { Self.now }, boot: { boot }, bootID: "boot", random: { 0 })
    return try Sender(store: store, server: client, clock: clock, logger: lines.logger)
  }

  /// Sends a drive of 60 fences, then damages the page with the batches, and a page with some of the fences.
  private func sendAndDamage() async throws {
    let store = try open()
    let road = try Road(fences: 60, started: Self.now.later(by: .seconds(-1800)), test: nil)
    try road.log.write(to: URL(fileURLWithPath: log))
    var recorder = try DriveRecorder(store, started: road.header.started, log: log)
    try recorder.save(sessions: road.engine.sessions, fences: road.ended, seen: road.engine.now)
    try recorder.end(at: try #require(road.engine.stopped).at, reason: .user)
    #expect(try await sender(store).pass(.cold).fencesSent == road.ended.count)
    #expect(try await received().values.allSatisfy { $0 == 1 })
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    let pages = try await store.database.read { db in
      try ["batch", "fence"].flatMap { table in
        try Int.fetchAll(
          db, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno LIMIT 1",
          arguments: [table])
      }
    }
    try store.database.close()
    let file = try #require(FileHandle(forUpdatingAtPath: directory.database))
    for page in pages {
      try file.seek(toOffset: UInt64(page - 1) * 4096)
      try file.write(contentsOf: Data(count: 4096))
    }
    try file.close()
  }

  /// How often the server has each fence.
  private func received() async throws -> [Int: Int] {
    try await tool.fences().reduce(into: [:]) { counts, fence in
      counts[fence.integer("timestamp_microseconds") ?? -1, default: 0] += 1
    }
  }

  /// A start, and all that an operator may do afterwards.
  private func startAndSubmit() async throws -> DriveStore {
    let store = try open()
    #expect(lines.all.contains { $0.contains("the store was damaged") })
    let outcome = try await Recovery(store, maxAge: .seconds(7 * 86_400), logger: lines.logger).run(at: Self.now)
    #expect(outcome.recovered > 5, "fences of the damaged page")
    for mode in [PassMode.cold, .warm, .quarantined] {
      _ = try await sender(store).pass(mode)
      #expect(try await received().values.allSatisfy { $0 == 1 }, "\(mode)")
    }
    return store
  }

  @Test(
    "when the batch's row and some of its fences are damaged, then the log knows what was sent, and none goes again")
  func knownFromLog() async throws {
    try await sendAndDamage()
    let store = try await startAndSubmit()
    let sessions = try StoreReader(store).sessions()
    #expect(sessions.map { $0.state(isWriterAlive: false) } == [.submitted])
    #expect(sessions.map(\.submittedFences) == sessions.map(\.fences))
    #expect(try await tool.requests(to: "coverageResult").count == 1)
  }

  @Test("when an earlier build wrote the log, then the server's history shows that they were sent, and none goes again")
  func knownFromHistory() async throws {
    try await sendAndDamage()
    let text = try String(contentsOfFile: log, encoding: .utf8)
    #expect(text.contains("\"accepted\""))
    try text.split(separator: "\n").filter { !$0.contains("\"accepted\"") }.map { $0 + "\n" }.joined()
      .write(toFile: log, atomically: true, encoding: .utf8)
    let store = try await startAndSubmit()
    #expect(try StoreReader(store).unsentSessions().allSatisfy { !$0.isWaiting })
    #expect(try await tool.requests(to: "coverageResult").count == 1)
  }
}
