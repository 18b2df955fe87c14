import ControlServer
import Coverage
import DriveStore
import Foundation
import TestSupport
import Testing

@testable import Submission

/// What a pass sends, with a real store and the real control server tool, one after the other: each test starts a server of its own.
@Suite(.serialized)
struct SenderTests {
  @Test("when a drive has ended, then its sessions are sent newest first, fences ascending, and marked")
  func wholeDrive() async throws {
    let rig = try await SendingRig()
    let tests = try await rig.tests(2)
    let drive = try rig.record(tests: tests)
    let sender = try rig.sender()
    let report = try await sender.pass(.drive(drive))
    #expect(report.sessionsSent == 2)
    #expect(report.fencesSent == 4)
    let bodies = try await rig.tool.requests(to: "coverageResult").compactMap { request in
      try (request["body"] as? String).flatMap {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
    }
    #expect(bodies.map { $0["test_uuid"] as? String } == tests.reversed())
    for body in bodies {
      let times = (body["fences"] as? [[String: Any]] ?? []).compactMap { $0["timestamp_microseconds"] as? Int }
      #expect(times.count == 2)
      #expect(times == times.sorted())
    }
    #expect(try rig.states() == [.submitted, .submitted])
    #expect(try await sender.pass(.cold) == Report(), "nothing is sent twice")
    try await rig.finish()
  }

  @Test("when the server cannot take anything, then the pass ends, all is kept, and a later pass sends it")
  func outage() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: try await rig.tests(2))
    let sender = try rig.sender()
    try await rig.tool.setFault("503", on: "coverageResult", count: 1)
    let report = try await sender.pass(.drive(drive))
    #expect(report.sessionsSent == 0)
    #expect(report.sessionsKept == 2)
    #expect(try await rig.requests("coverageResult") == 1, "one request is enough to know")
    let later = try await sender.pass(.cold)
    #expect(later.sessionsSent == 2)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }

  @Test("when a pass was in trouble, then the next one asks for the server's health, and sends nothing to a sick one")
  func health() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: try await rig.tests(1))
    let sender = try rig.sender()
    try await rig.tool.setFault("503", on: "coverageResult", count: 1)
    _ = try await sender.pass(.drive(drive))
    try await rig.tool.setFault("503", on: "settings", count: 1)
    let before = try await rig.paths().count
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    #expect(Array(try await rig.paths().dropFirst(before)) == ["settings"])
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    #expect(Array(try await rig.paths().dropFirst(before + 1)) == ["settings", "history", "coverageResult"])
    try await rig.finish()
  }

  @Test(
    "when the pass is cancelled while the server works, then nothing is lost, and the next one asks before it sends")
  func cancelled() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: try await rig.tests(1))
    let sender = try rig.sender()
    try await rig.tool.setFault("hang:30", on: "coverageResult", count: 1)
    let pass = Task { try await sender.pass(.drive(drive)) }
    _ = try await eventually("the session is on its way") {
      try await rig.requests("coverageResult") == 1 ? true : nil
    }
    pass.cancel()
    let report = try await pass.value
    #expect(report.sessionsKept == 1)
    #expect(report.wasStopped)
    #expect("\(try #require(report.firstFailure))".contains("stopped before"))
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    #expect(try await rig.requests("history") == 1)
    #expect(try await rig.holdsAllOnce(2))
    try await rig.finish()
  }

  @Test("when a drive was never online, then it gets a test afterwards and its offsets lie before it")
  func lateAnchoring() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [nil])
    let report = try await rig.sender().pass(.drive(drive))
    #expect(report.sessionsSent == 1)
    #expect(try await rig.tool.fences().map { $0.integer("offset_ms") } == [-7_200_000, -7_196_000])
    let stored = try #require(try StoreReader(rig.store).sessions().first)
    #expect(stored.session.testUUID != nil)
    #expect(stored.session.anchor == .seconds(7200))
    try await rig.finish()
  }

  @Test("when only fences exist that Wi-Fi touched, then nothing is sent")
  func wifiOnly() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: try await rig.tests(1)) { number, _ in
      .sample(number: number, entered: Double(number) * 4, isSubmittable: false)
    }
    #expect(try await rig.sender().pass(.drive(drive)) == Report())
    #expect(try await rig.requests("coverageResult") == 0)
    try await rig.finish()
  }

  @Test("when the device registers, then its name is kept for the next process, and all who ask at once get the same")
  func registration() async throws {
    let rig = try await SendingRig()
    let registration = rig.registration
    let names = try await withThrowingTaskGroup { group in
      for _ in 0..<5 { group.addTask { try await registration.clientUUID() } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(names.count == 1)
    #expect(try await rig.store.clientUUID(at: rig.tool.url) == names.first)
    #expect(try await rig.requests("settings") == 1)
    try await rig.finish()
  }

  // MARK: Warm and cold

  @Test("when a pass is warm, then it leaves alone what an earlier run left unfinished; a cold one ends and sends it")
  func warmAndCold() async throws {
    let rig = try await SendingRig()
    let test = try await rig.test()
    _ = try rig.record(tests: [test], finalized: false)
    _ = try rig.record(tests: [nil], started: 50, finalized: false)
    _ = try rig.record(tests: [nil], started: 100)
    let sender = try rig.sender()
    #expect(try await sender.pass(.warm).sessionsSent == 1)
    #expect(rig.lines.all.contains { $0.contains("is unfinished: skipped") })
    let cold = try await sender.pass(.cold)
    #expect(cold.sessionsSent == 2)
    #expect(try await rig.holdsAllOnce(6))
    try await rig.finish()
  }

  @Test("when a drive is being recorded, then no pass touches anything of it")
  func runningDrive() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], finalized: false)
    let running = try rig.record(tests: [try await rig.test(), nil], started: 60)
    let sender = try rig.sender { $0.retention.maxAge = .seconds(60) }
    await sender.setRunningDrives(from: running)
    let report = try await sender.pass(.cold)
    #expect(report.sessionsSent == 1)
    let sessions = try StoreReader(rig.store).sessions().filter { $0.drive == running }
    #expect(sessions.map(\.fences) == [2, 2])
    #expect(sessions.allSatisfy { $0.submittedFences == 0 })
    #expect(try await rig.tool.fences().count == 2)
    await sender.setRunningDrives(from: nil)
    try await rig.finish()
  }

  @Test("when a session is missing, then its fences wait for a cold pass and their age")
  func orphans() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [nil], fences: 3)
    try await rig.store.loseSessions(of: drive)
    let early = try rig.sender { $0.legacyThreshold = .seconds(8000) }
    #expect(try await early.pass(.cold) == Report(), "too young")
    let sender = try rig.sender()
    #expect(try await sender.pass(.warm) == Report())
    #expect(rig.lines.all.contains { $0.contains("3 fences without a session wait for a cold pass: skipped") })
    #expect(try await sender.pass(.cold).fencesSent == 3)
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

  // MARK: Size and overlap

  @Test("when a session is long, then no request has more than 400 fences, and each part has a test of its own")
  func parts() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [try await rig.test()], fences: 900)
    let report = try await rig.sender().pass(.drive(drive))
    #expect(report.sessionsSent == 1)
    #expect(report.fencesSent == 900)
    #expect(try await rig.holdsAllOnce(900))
    let counts = try await rig.tool.tests().compactMap { ($0["fences"] as? [Any])?.count }
    #expect(counts.sorted() == [100, 400, 400])
    #expect(try rig.states() == [.submitted])
    let fences = try StoreReader(rig.store).sessions().flatMap { try StoreReader(rig.store).fences(of: $0) }
    #expect(Set(fences.map(\.session.session.testUUID)).count == 3, "export tells the test that each fence went to")
    try await rig.finish()
  }

  @Test("when passes are asked for at once, then one runs after the other and nothing goes twice")
  func overlap() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil, nil])
    _ = try rig.record(tests: [nil], started: 60)
    let sender = try rig.sender()
    let reports = try await withThrowingTaskGroup { group in
      for mode in [PassMode.cold, .warm, .cold, .warm] { group.addTask { try await sender.pass(mode) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(reports.map(\.sessionsSent).reduce(0, +) == 3)
    #expect(try await rig.holdsAllOnce(6))
    #expect(try await rig.requests("coverageRequest") == 3)
    try await rig.finish()
  }

  @Test("when a pass that waits for another is cancelled, then it gives up its turn at once, and the next one gets it")
  func cancelledInTheQueue() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    try await rig.tool.setFault("hang:30", on: "settings", count: 1)
    let sender = try rig.sender()
    let first = Task { try await sender.pass(.cold) }
    _ = try await eventually("the first is under way") { try await rig.requests("settings") == 1 ? true : nil }
    let second = Task { try await sender.pass(.warm) }
    let third = Task { try await sender.pass(.warm) }
    second.cancel()
    #expect(try await second.value.wasStopped, "while the first goes on")
    #expect(try await rig.requests("settings") == 1)
    first.cancel()
    _ = try await first.value
    #expect(try await third.value.sessionsSent == 1)
    try await rig.finish()
  }

  @Test("when a pass runs in the background, then its first request waits for its share of the spread; others do not")
  func spread() async throws {
    let rig = try await SendingRig()
    let sender = try rig.sender()
    _ = try rig.record(tests: [nil])
    _ = try await sender.pass(.warm)
    #expect(rig.time.sleeps == [])
    _ = try rig.record(tests: [nil], started: 60)
    let another = try rig.sender()
    _ = try await another.pass(.warm, urgency: .background)
    #expect(rig.time.sleeps == [.seconds(30)], "half of 60 s")
    _ = try rig.record(tests: [nil], started: 120)
    _ = try await another.pass(.warm, urgency: .background)
    #expect(rig.time.sleeps == [.seconds(30)], "once")
    try await rig.finish()
  }

  @Test("when a process keeps sending, then it begins cold, waits 15 min or until trouble is over, and hears a nudge")
  func keepSending() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], finalized: false)
    try await rig.tool.setFault("503", on: "settings", count: 1)
    let sender = try rig.sender { $0.spread = .zero }
    rig.time.holdsSleepers = true
    let sending = Task { await sender.keepSending() }
    defer { sending.cancel() }
    // Half of the first back-off.
    _ = try await eventually("the first wait") { rig.time.sleeps.last == .seconds(16) ? true : nil }
    rig.time.turn(by: .seconds(16))
    await sender.nudge()
    _ = try await eventually("the second pass") { rig.time.sleeps.last == .seconds(900) ? true : nil }
    #expect(try await rig.holdsAllOnce(2))
    _ = try rig.record(tests: [nil], started: 60)
    await sender.nudge()
    _ = try await eventually("the third pass") { try await rig.holdsAllOnce(4) ? true : nil }
    sending.cancel()
    await sending.value
    try await rig.finish()
  }

  // MARK: The host's clock

  @Test("when the clock is not set at the start, then what an earlier process left unfinished is sent once it is")
  func coldAfterClock() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], finalized: false)
    let sender = try rig.sender { $0.spread = .zero }
    rig.time.holdsSleepers = true
    rig.time.wallError = .seconds(-40 * 365 * 86_400)
    let sending = Task { await sender.keepSending() }
    defer { sending.cancel() }
    _ = try await eventually("the first wait") { rig.time.sleeps.last == .seconds(900) ? true : nil }
    rig.time.wallError = .zero
    await sender.nudge()
    _ = try await eventually("the cold pass") { try await rig.holdsAllOnce(2) ? true : nil }
    sending.cancel()
    await sending.value
    try await rig.finish()
  }

  @Test("when the clock is set while a pass waits, then the fences leave with their true times")
  func setDuringPass() async throws {
    let rig = try await SendingRig()
    // Two hours slow, by a clock whose boot was 6200 s after the sample start.
    let drive = try rig.record(tests: [nil], started: -1000, boot: ("boot 1", .zero))
    try await rig.store.end(drive: drive, at: .sampleStart.later(by: .seconds(4000 - 1000)))
    rig.time.wallError = .seconds(-7200)
    rig.time.holdsSleepers = true
    let sender = try rig.sender()
    let background = Task { try await sender.pass(.cold, urgency: .background) }
    _ = try await eventually("the wait for the spread") { rig.time.sleeps.last == .seconds(30) ? true : nil }
    rig.time.wallError = .zero
    _ = try await sender.pass(.warm)
    #expect(try await background.value.fencesSent == 2)
    let start = Int(WallTime.sampleStart.later(by: .seconds(6200)).microseconds)
    #expect(try await rig.received().keys.sorted() == [start, start + 4_000_000])
    try await rig.finish()
  }

  // MARK: What is said

  @Test("when passes run, then the log tells mode, groups and outcomes, and never the client's name")
  func log() async throws {
    let rig = try await SendingRig()
    let uuid = try await rig.registration.clientUUID()
    _ = try rig.record(tests: [nil], fences: 5)
    try await rig.tool.setFault("503", on: "coverageResult", count: 1)
    let sender = try rig.sender()
    _ = try await sender.pass(.cold)
    _ = try await sender.pass(.cold)
    let log = rig.lines.all.joined(separator: "\n")
    #expect(log.contains("cold pass: 1 groups of fences (no test yet: 5)"))
    #expect(log.contains("5 fences: the control server is in trouble (503)"))
    #expect(log.contains("5 fences: accepted"))
    #expect(log.contains("cold pass: sent 5 fences of 1 sessions"))
    #expect(!log.lowercased().contains(uuid.lowercased()))
    try await rig.finish()
  }
}
