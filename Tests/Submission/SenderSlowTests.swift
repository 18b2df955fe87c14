import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Passes with a real store and the real control server tool. Serialized: each test starts a server of its own.
@Suite(.serialized)
struct SenderSlowTests {
  @Test("when a drive has ended, then its sessions are sent newest first, fences ascending, and marked as submitted")
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
    #expect(try await sender.pass(.cold) == PassReport(), "nothing is sent twice")
    try await rig.finish()
  }

  @Test("when the server is in trouble, then the pass ends, all sessions are kept, and a later pass sends them")
  func outage() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: try await rig.tests(4))
    let sender = try rig.sender()
    try await rig.tool.setFault("503", on: "coverageResult", count: 2)
    let report = try await sender.pass(.drive(drive))
    #expect(report.sessionsSent == 0)
    #expect(report.sessionsKept == 4)
    #expect(report.wasEndedByServer && !report.isUnhindered)
    #expect(try await rig.requests("coverageResult") == 2, "two batches are enough to know")
    let later = try await sender.pass(.cold)
    #expect(later.sessionsSent == 4)
    #expect(try await rig.holdsAllOnce(8))
    try await rig.finish()
  }

  @Test("when a pass met trouble, then the next pass checks the server first, and sends nothing while the check fails")
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
    "when a pass is cancelled while the server works, then nothing is lost, and the next one reads the history first")
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

  @Test("when a session of an ended drive is damaged meanwhile, then the next pass of that drive repairs and sends it")
  func damagedMeanwhile() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [nil, nil])
    let sender = try rig.sender()
    try await rig.store.damage("UPDATE session SET loop_uuid = 'x' WHERE id = 1")
    #expect(try await sender.pass(.drive(drive)).sessionsSent == 2)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }

  @Test("when a session is forgotten while a pass is under way, then nothing more of it leaves")
  func forgottenMeanwhile() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil, nil])
    let sender = try rig.sender()
    try await rig.tool.setFault("slow:3", on: "coverageResult", count: 1)
    let pass = Task { try await sender.pass(.cold) }
    _ = try await eventually("the newest session is on its way") {
      try await rig.requests("coverageResult") == 1 ? true : nil
    }
    _ = try #require(try await rig.store.forget(session: 1) { _, _ in })
    let report = try await pass.value
    #expect((report.sessionsSent, report.fencesSent, report.sessionsKept) == (1, 2, 0))
    #expect(try await rig.paths().count { $0 == "coverageResult" || $0 == "coverageRequest" } == 2)
    #expect(try await rig.holdsAllOnce(2))
    try await rig.finish()
  }

  @Test("when a drive was never online, then it gets a test later, and its offsets are negative")
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

  @Test("when every fence overlaps Wi-Fi time, then nothing is sent")
  func wifiOnly() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: try await rig.tests(1)) { number, _ in
      .sample(number: number, entered: Double(number) * 4, isSubmittable: false)
    }
    #expect(try await rig.sender().pass(.drive(drive)) == PassReport())
    #expect(try await rig.requests("coverageResult") == 0)
    try await rig.finish()
  }

  @Test("when the device registers, then its UUID is persisted, and concurrent callers get the same one")
  func registration() async throws {
    let rig = try await SendingRig()
    let names = try await withThrowingTaskGroup { group in
      for _ in 0..<5 { group.addTask { try await rig.clientUUID() } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(names.count == 1)
    #expect(try await rig.store.servers.clientUUID(at: rig.tool.url) == names.first)
    #expect(try await rig.requests("settings") == 1)
    try await rig.finish()
  }

  @Test("when passes run, then the log has mode, groups and outcomes, and never the client's UUID")
  func log() async throws {
    let rig = try await SendingRig()
    let uuid = try await rig.clientUUID()
    _ = try rig.record(tests: [nil], fences: 5)
    let sender = try rig.sender()
    for path in ["settings", "coverageRequest", "coverageResult"] {
      try await rig.tool.setFault("503", on: path, count: 1)
      _ = try await sender.pass(.cold)
    }
    _ = try await sender.pass(.cold)
    let log = rig.lines.all.joined(separator: "\n")
    #expect(log.contains("cold pass: 1 session\n"))
    #expect(log.contains("cold pass ends: the control server is in trouble (503)"))
    #expect(log.contains("cold pass: 1 batch of fences (no test yet: 5)"))
    #expect(log.contains("5 fences: not sent, /coverageRequest failed: the control server is in trouble (503)"))
    #expect(log.contains("5 fences: the control server is in trouble (503)"))
    #expect(log.contains("5 fences: accepted"))
    #expect(log.contains("cold pass: sent 5 fences of 1 session"))
    #expect(!log.lowercased().contains(uuid.lowercased()))
    try await rig.finish()
  }

  @Test(
    "when a drive's requests meet 429 three times, then no request of a drive or pass leaves while the breaker is open")
  func askingBesidePasses() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    let sender = try rig.sender()
    try await rig.tool.setFault("429", on: "coverageRequest", count: 3)
    for _ in 0..<3 {
      await #expect(throws: ServerFailure.self) {
        try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
      }
    }
    let before = try await rig.paths().count
    await #expect(throws: ServerGate.Hold.self) {
      try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
    }
    #expect(try await sender.pass(.cold).hold != nil)
    #expect(try await rig.paths().count == before)
    let later = try rig.sender()
    await #expect(throws: ServerGate.Hold.self, "a process later as well") {
      try await later.tests.requestTest(loopUUID: nil, at: .rigStart)
    }
    rig.time.turn(by: .seconds(35))
    _ = try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    try await rig.finish()
  }

  @Test("when the clock is set by weeks during a drive, then the fences go to a test that can hold their offsets")
  func farFromItsAnchor() async throws {
    let rig = try await SendingRig()
    let days = 40.0 * 86_400
    _ = try rig.record(tests: [try await rig.test()], started: -days) { number, _ in
      .sample(number: number, entered: days + Double(number) * 4)
    }
    let report = try await rig.sender().pass(.cold)
    #expect(report.sessionsSent == 1 && report.sessionsQuarantined == 0)
    #expect(try await rig.holdsAllOnce(2))
    #expect(try await rig.requests("coverageResult") == 1)
    try await rig.finish()
  }

  @Test("when fences are older than the server's offsets reach, then they are sent once, anchored at their own time")
  func weeksOld() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    rig.time.turn(by: .seconds(40 * 86_400))
    let report = try await rig.sender { $0.retention.maxAge = .seconds(60 * 86_400) }.pass(.cold)
    #expect(report.sessionsSent == 1 && report.sessionsQuarantined == 0)
    #expect(try await rig.holdsAllOnce(2))
    #expect(try await rig.requests("coverageRequest") == 1)
    try await rig.finish()
  }

  @Test("when a drive's requests open the breaker while a pass is under way, then the pass sends nothing more")
  func openedBesidePass() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [try await rig.test(), try await rig.test()])
    try await rig.tool.setFault("slow:1", on: "coverageResult", count: 1)
    let sender = try rig.sender()
    let pass = Task { try await sender.pass(.cold) }
    _ = try await eventually("the first result is under way") {
      try await rig.store.database.read { try Bool.fetchOne($0, sql: "SELECT 1 FROM batch WHERE state = 'sending'") }
    }
    try await rig.tool.setFault("429", on: "coverageRequest", count: 3)
    for _ in 0..<3 {
      await #expect(throws: ServerFailure.self) {
        try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
      }
    }
    #expect(try await pass.value.hold != nil)
    #expect(try await rig.requests("coverageResult") == 1)
    rig.time.turn(by: .seconds(40))
    _ = try await sender.pass(.cold)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }
}
