import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Deletion by passes, and passes on a failing store, with a real store and the real control server tool.
@Suite(.serialized)
struct HousekeepingSlowTests {
  // MARK: The host's clock

  private static let day: Duration = .seconds(86_400)

  /// A rig whose clock is ahead of the server's by `error`, with a drive that began `age` ago by the server's clock.
  private func rig(drive age: Duration, clockError error: Duration = .zero) async throws -> SendingRig {
    let rig = try await SendingRig()
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    let lead: Duration = .microseconds(now.microseconds - rig.time.clock.wall().microseconds)
    rig.time.wallError = lead + error
    let started: Duration = .microseconds(now.microseconds - WallTime.rigStart.microseconds) - age
    _ = try rig.record(tests: [try await rig.test()], started: started.inSeconds)
    return rig
  }

  private func fences(_ rig: SendingRig) throws -> Int {
    try StoreReader(rig.store).sessions().map(\.fences).reduce(0, +)
  }

  @Test("when the clock is years ahead, then nothing is deleted, neither before nor after the server answers")
  func lyingClock() async throws {
    let rig = try await rig(drive: Self.day, clockError: Self.day * 365 * 14)
    try await rig.tool.setFault("503", on: "settings", count: 1)
    let sender = try rig.sender()
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    #expect(try fences(rig) == 2)
    #expect(rig.lines.all.contains { $0.contains("2 fences too old to be sent") }, "\(rig.lines.all)")
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    #expect(rig.lines.all.contains { $0.contains("server contradicts; nothing is deleted because of its age") })
    _ = try await sender.pass(.cold)
    #expect(try fences(rig) == 2, "sent fences are kept for their full time")
    try await rig.finish()
  }

  @Test(
    "when the clock is some days ahead and the server contradicts it, then unsent fences are sent, not deleted",
    arguments: [8, 30, 59])
  func daysAhead(_ days: Int) async throws {
    let rig = try await rig(drive: Self.day, clockError: Self.day * days)
    #expect(try await rig.sender().pass(.cold).sessionsSent == 1)
    #expect(try fences(rig) == 2)
    #expect(try await rig.holdsAllOnce(2))
    try await rig.finish()
  }

  @Test(
    "when the same clock has run for a day, across restarts and without a server, then it decides which fences are too old"
  )
  func dayOfRunning() async throws {
    let rig = try await rig(drive: Self.day * 10)
    try await rig.tool.setFault("503", on: "settings")
    for _ in 0..<4 {
      #expect(try await rig.sender().pass(.warm).sessionsKept == 1)
      #expect(try fences(rig) == 2)
      rig.time.turn(by: Self.day / 4)
    }
    _ = try await rig.sender().pass(.warm)
    #expect(try fences(rig) == 0)
    try await rig.finish()
  }

  @Test(
    "when no drive was recorded for long, then fences that are too old are deleted once the server confirms the clock")
  func longSilence() async throws {
    let rig = try await rig(drive: Self.day * 20)
    try await rig.tool.setFault("503", on: "settings", count: 1)
    let sender = try rig.sender()
    #expect(try await sender.pass(.warm).sessionsKept == 1, "the server has not confirmed the clock yet")
    #expect(try fences(rig) == 2)
    var report = PassReport()
    report.fencesExpired = 2
    #expect(try await sender.pass(.warm) == report)
    #expect(try fences(rig) == 0)
    #expect(try await rig.requests("coverageResult") == 0)
    try await rig.finish()
  }

  @Test("when passes in the background delete fences unsent, then the command that runs them gets their number")
  func lostInBackground() async throws {
    let rig = try await rig(drive: Self.day * 20)
    let sender = try rig.sender { $0.gate.spread = .zero }
    rig.time.holdsSleepers = true
    let sending = Task { await sender.keepSending() }
    defer { sending.cancel() }
    _ = try await eventually("the first wait") { rig.time.sleeps.last == .seconds(900) ? true : nil }
    #expect(try fences(rig) == 0)
    sending.cancel()
    #expect(await sending.value == 2)
    try await rig.finish()
  }

  // MARK: Quota

  @Test("when the store exceeds its quota, then a pass drops sent fences, and logs the remaining excess once")
  func quota() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], fences: 30)
    _ = try await rig.sender().pass(.cold)
    try await rig.tool.setFault("503", on: "*")
    _ = try rig.record(tests: [nil], fences: 20, started: 600)
    let sender = try rig.sender { $0.quota.fences = 25 }
    _ = try await sender.pass(.cold)
    #expect(try fences(rig) == 25)
    let dropped = "notice: the state directory held more than storage.max-size or storage.max-fences: dropped 25 fences"
    #expect(rig.lines.all.contains { $0.hasPrefix(dropped) }, "\(rig.lines.all)")
    _ = try rig.record(tests: [nil], fences: 20, started: 1200)
    for _ in 0..<3 { _ = try await sender.pass(.warm) }
    #expect(try fences(rig) == 40)
    #expect(rig.lines.all.filter { $0.hasPrefix("error: ") && $0.contains("recording goes on") }.count == 1)
    try await rig.tool.clearFaults()
    #expect(try await sender.pass(.warm).fencesSent == 40)
    #expect(try await rig.holdsAllOnce(70))
    try await rig.finish()
  }

  @Test("when submit is killed while it drops fences, then all unsent fences arrive once, and their drive log remains")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let state = folder.file("state")
    let tool = try await ControlServerTool()
    let configuration = try folder.write(
      """
      { state-directory: \(state), control-server: { url: "\(tool.url)", request-timeout: 5s },
        storage: { max-fences: 1000, max-size: 16M } }
      """, to: "config.yaml")
    let logs = try await fill(state)
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<5 {
      let before = try count(state)
      let submit = try RunningProgram.product("coverage-probe", ["submit", "--warm", "--config", configuration])
      let share = Double.random(in: 0...1, using: &generator)
      _ = try? await eventually(within: .seconds(1), "some fences are dropped") {
        try !submit.isRunning || Double(count(state)) < Double(before) * (0.4 + 0.6 * share) ? () : nil
      }
      submit.signal(SIGKILL)
      _ = try await submit.exitStatus()
    }
    let last = try RunningProgram.product("coverage-probe", ["submit", "--config", configuration])
    #expect(try await last.exitStatus() == 0, "\(last.standardError)")
    let counts = try await tool.fences().reduce(into: [:]) { $0[$1.integer("timestamp_microseconds"), default: 0] += 1 }
    #expect(counts.count == 60 && counts.values.allSatisfy { $0 == 1 })
    #expect(try count(state) <= 1000)
    #expect(logs.map { FileManager.default.fileExists(atPath: $0) } == [false, false, true])
    let store = try DriveStore(directory: StateDirectory(path: state), purpose: "a test") { Issue.record("\($0)") }
    #expect(try StoreReader(store).damagedRows() == 0)
    try await tool.program.stop()
  }

  private func count(_ state: String) throws -> Int {
    try StoreReader(directory: StateDirectory(path: state)).sessions().map(\.fences).reduce(0, +)
  }

  /// Records two sent drives, each with 800 fences and a log of 20 MB, and an unsent drive with 60 fences.
  /// - Returns: The paths of their logs.
  private func fill(_ state: String) async throws -> [String] {
    let store = try DriveStore(directory: StateDirectory(path: state), purpose: "a test")
    let now = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
    var logs: [String] = []
    for (number, fences) in [800, 800, 60].enumerated() {
      let log = store.directory.driveLogs + "/\(number).jsonl"
      logs.append(log)
      #expect(FileManager.default.createFile(atPath: log, contents: nil))
      try #require(truncate(log, number < 2 ? 20 << 20 : 1000) == 0)
      var recorder = try DriveRecorder(store, started: now.later(by: .seconds(20_000 * (number - 3))), log: log)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(15_000))],
        fences: (0..<fences).map { .sample(number: $0, entered: Double($0)) }, seen: .seconds(15_000))
      try recorder.end(at: .seconds(15_000), reason: .user)
      guard fences > 60 else { continue }
      let session = try StoreReader(store).sessions().last?.id ?? 0
      try await store.outbox.makeBatches(of: [session], limit: 400, at: now)
      for batch in try await store.outbox.batches(of: [session], in: [.waiting]) {
        try await store.outbox.markSubmitted(batch: batch.id, at: now)
      }
    }
    return logs
  }

  // MARK: Trouble

  @Test("when a server in trouble sends a Retry-After, then the next background pass waits for it, up to an hour")
  func retryAfter() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [try await rig.test()])
    let sender = try rig.sender()
    for (said, expected) in [("200", 200_000), ("0", 31_000), ("9999", 3_600_000)] {
      try await rig.tool.setFault("503-retry-after:\(said)", on: "coverageResult", count: 1)
      #expect(try await sender.pass(.drive(drive)).sessionsKept == 1)
      #expect(await sender.status.nextAttemptInMilliseconds == expected, "\(said)")
      rig.time.turn(by: .seconds(4000))
    }
    #expect(rig.lines.all.contains { $0.contains("in trouble (503, not before 200 s)") })
    #expect(try await sender.pass(.warm, urgency: .background).sessionsSent == 1)
    try await rig.finish()
  }

  @Test("when the store fails, then a cold pass is retried after the back-off, and it is still cold")
  func storeTrouble() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], finalized: false)
    try await rig.store.database.write {
      try $0.execute(sql: "CREATE TRIGGER fault BEFORE INSERT ON batch BEGIN SELECT RAISE(ABORT, 'a fault'); END")
    }
    let sender = try rig.sender { $0.gate.spread = .zero }
    rig.time.holdsSleepers = true
    let sending = Task { await sender.keepSending() }
    defer { sending.cancel() }
    _ = try await eventually("the first wait") { rig.time.sleeps.last == .seconds(16) ? true : nil }
    await sender.nudge()
    _ = try await eventually("the second wait") { rig.time.sleeps.last == .seconds(31) ? true : nil }
    try await rig.store.database.write { try $0.execute(sql: "DROP TRIGGER fault") }
    await sender.nudge()
    _ = try await eventually("the next pass") { rig.time.sleeps.last == .seconds(900) ? true : nil }
    #expect(try await rig.holdsAllOnce(2))
    sending.cancel()
    _ = await sending.value
    try await rig.finish()
  }
}
