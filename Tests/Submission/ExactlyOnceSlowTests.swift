import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Lost answers, settled by the server's history. Serialized: each test starts a server of its own.
@Suite(.serialized)
struct ExactlyOnceSlowTests {
  @Test(
    "when the answer is lost after the server accepted a session, then the history proves it, and it is not sent again")
  func lostAnswer() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [try await rig.test()])
    try await rig.tool.setFault("drop-answer", on: "coverageResult", count: 1)
    #expect(try await rig.sender().pass(.drive(drive)).sessionsKept == 1)
    let report = try await rig.sender().pass(.cold)
    #expect(report.sessionsSent == 1)
    #expect(report.fencesSent == 2)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try rig.states() == [.submitted])
    #expect(try await rig.holdsAllOnce(2))
    #expect(try await rig.store.servers.historyCursor(at: rig.tool.url) != nil)
    try await rig.finish()
  }

  @Test(
    "when the process dies before the first byte or after the last, then the next one reads the history before it sends"
  )
  func death() async throws {
    let rig = try await SendingRig()
    let test = try await rig.test()
    let drive = try rig.record(tests: [test, try await rig.test()])
    let sessions = try StoreReader(rig.store).sessions()
    try await rig.store.outbox.makeBatches(of: sessions.map(\.id), limit: 400, at: .rigStart)
    let batches = try await rig.store.outbox.batches(of: sessions.map(\.id), in: [.waiting])
    let client = try await rig.clientUUID()
    // Both were about to leave; one did, and arrived.
    for batch in batches {
      try await rig.store.outbox.beginSending(batch: batch.id, fences: 2, client: client, at: .rigStart)
    }
    try await rig.client.submit(
      rig.client.device.prepare(
        CoverageResult(
          clientUUID: client, testUUID: test, driveStarted: .rigStart, anchor: .seconds(1),
          fences: try StoreReader(rig.store).fences(of: batches[0]))))
    let report = try await rig.sender().pass(.drive(drive))
    #expect(report.sessionsSent == 2)
    #expect(try await rig.requests("coverageResult") == 2)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }

  @Test("when the server executes a request after the client's timeout, then it still holds the fences only once")
  func lateCommit() async throws {
    let rig = try await SendingRig(requestTimeout: .milliseconds(1500))
    _ = try rig.record(tests: [nil], fences: 3)
    try await rig.tool.setFault("late:5", on: "coverageResult", count: 1)
    let sender = try rig.sender()
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    #expect(try await sender.pass(.cold).sessionsSent == 1, "the history does not have it yet")
    _ = try await eventually("the late request is executed") {
      try await rig.tool.requests(to: "coverageResult").first { $0["fault"] as? String == "late:5.0" }?["reason"]
    }
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

  /// A rig whose server accepted three fences of a session, and whose answer was lost.
  private func rigInDoubt() async throws -> SendingRig {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [try await rig.test()], fences: 3)
    try await rig.tool.setFault("drop-answer", on: "coverageResult", count: 1)
    #expect(try await rig.sender().pass(.drive(drive)).sessionsKept == 1)
    return rig
  }

  @Test(
    "when the server's host name changes after a lost answer, then the history of the first client settles the batch")
  func otherName() async throws {
    let rig = try await rigInDoubt()
    let renamed = try SendingRig.client(of: rig.tool.url.replacing("127.0.0.1", with: "localhost"))
    #expect(try await rig.sender(to: renamed).pass(.cold).sessionsSent == 1)
    let name = try await rig.store.servers.clientUUID(at: renamed.url)
    #expect(try await rig.store.servers.clientUUID(at: rig.tool.url) != name)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

  @Test(
    "when the registration is lost after a lost answer, then the old client's history settles it, and no log has its UUID"
  )
  func lostRegistration() async throws {
    let rig = try await rigInDoubt()
    let lost = try #require(try await rig.store.servers.clientUUID(at: rig.tool.url))
    try await rig.store.database.write { try $0.execute(sql: "DELETE FROM registration") }
    #expect(try await rig.sender().pass(.cold).sessionsSent == 1)
    #expect(try await rig.store.servers.clientUUID(at: rig.tool.url) != lost)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.holdsAllOnce(3))
    #expect(!rig.lines.all.joined().contains(lost))
    try await rig.finish()
  }

  @Test(
    "when the history lags and the server refuses a batch in doubt, then no other test is requested for an hour",
    arguments: [("400", "No started test found by id x"), ("409", "conflict")])
  func laggingHistory(status: String, reason: String) async throws {
    let rig = try await rigInDoubt()
    let (requests, client) = (Collected<String>(), UUID().uuidString.lowercased())
    let lagging = try ScriptedServer { connection in
      let path = connection.text(to: " HTTP/1.1").split(separator: "/").last.map(String.init) ?? ""
      requests.append(path)
      let (answer, body) =
        switch path {
        case "settings": ("200 OK", #"{"settings":[{"uuid":"\#(client)"}]}"#)
        case "history": ("200 OK", #"{"history":[]}"#)
        case "coverageResult": ("\(status) No", #"{"error":["\#(reason)"]}"#)
        default: ("503 No", "{}")
        }
      connection.send(
        "HTTP/1.1 \(answer)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
      )
      connection.finish()
    }
    let server = try SendingRig.client(of: "http://127.0.0.1:\(lagging.port)/RMBTControlServer")
    let sessions = try StoreReader(rig.store).sessions().map(\.id)
    func sent() async throws -> WallTime? {
      try await rig.store.outbox.batches(of: sessions, in: [.sending]).first?.sent
    }
    let first = try #require(try await sent())
    // Meanwhile the host reboots, and its wall clock is set by hours, forward and back.
    for step in [1, -1] {
      rig.time.wallError += .seconds(18_000 * step)
      rig.time.reboot()
      rig.time.turn(by: .seconds(1000))
      #expect(try await rig.sender(to: server).pass(.cold).sessionsKept == 1)
      #expect(try await sent() == first, "it is in doubt since then, and not since its last refusal")
    }
    #expect(requests.all.count { $0 == "coverageResult" } == 2 && !requests.all.contains("coverageRequest"))
    rig.time.turn(by: .seconds(1600))
    _ = try await rig.sender(to: server).pass(.cold)
    #expect(requests.all.contains("coverageRequest"), "\(requests.all)")
    try await rig.finish()
  }

  @Test(
    "when a batch may have been sent to another server, then it is quarantined, and only a forced command sends it to this one"
  )
  func otherServer() async throws {
    let rig = try await rigInDoubt()
    let another = try await ControlServerTool()
    let client = try SendingRig.client(of: another.url)
    let sender = try rig.sender(to: client)
    let report = try await sender.pass(.cold)
    #expect((report.sessionsQuarantined, report.sessionsInDoubt) == (1, 1))
    #expect(try await another.fences().isEmpty)
    let reason = try StoreReader(rig.store).sessions().first?.quarantineReason
    #expect(reason?.contains("may have been sent before") == true)
    #expect(try await sender.pass(.cold) == PassReport())
    #expect(try await sender.pass(.quarantined).sessionsInDoubt == 1)
    #expect(try await another.fences().isEmpty)
    let warning = "not sent again, the server may have it; submit --quarantined --force sends all 3 again"
    #expect(rig.lines.all.contains { $0.contains(warning) })
    #expect(try await sender.pass(.quarantined, urgency: .forced).sessionsSent == 1)
    #expect(try await another.fences().count == 3)
    try await another.program.stop()
    try await rig.finish()
  }

  @Test("when the server forgets the device after a lost answer, then only a forced command sends the batch again")
  func forgetfulServer() async throws {
    let rig = try await rigInDoubt()
    let port = try #require(URL(string: rig.tool.url)?.port)
    try await rig.tool.program.stop()
    let forgetful = try await ControlServerTool(["--port", "\(port)"])
    let sender = try rig.sender()
    // The kept-alive connection is gone; that may cost a pass.
    let first = try await sender.pass(.cold).sessionsInDoubt
    let second = try await sender.pass(.cold).sessionsInDoubt
    #expect(first + second == 1)
    #expect(try await sender.pass(.quarantined).sessionsInDoubt == 1)
    #expect(try await forgetful.fences().isEmpty)
    #expect(try rig.states() == [.quarantined])
    #expect(try await sender.pass(.quarantined, urgency: .forced).sessionsSent == 1)
    #expect(try await forgetful.fences().count == 3)
    try await forgetful.program.stop()
  }

  @Test("when the server knows neither the test nor fences of it, then the session gets a new test")
  func unknownTest() async throws {
    let rig = try await SendingRig()
    let good = try await rig.test()
    let drive = try rig.record(tests: [good, UUID().uuidString])
    let report = try await rig.sender().pass(.drive(drive))
    #expect(report.sessionsSent == 2)
    #expect(
      try await rig.paths().suffix(5) == [
        "coverageResult", "history", "coverageRequest", "coverageResult", "coverageResult",
      ])
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }

  @Test("when the server has another number of fences, then the session is quarantined, and sent again only by force")
  func otherCount() async throws {
    let rig = try await SendingRig()
    let test = try await rig.test()
    try await rig.client.submit(
      rig.client.device.prepare(
        CoverageResult(
          clientUUID: try await rig.clientUUID(), testUUID: test, driveStarted: .rigStart,
          anchor: .seconds(1), fences: [.sample(entered: 500)])))
    _ = try rig.record(tests: [test], fences: 3)
    let sender = try rig.sender()
    let report = try await sender.pass(.cold)
    #expect(report.sessionsQuarantined == 1)
    let stored = try #require(try StoreReader(rig.store).sessions().first)
    #expect(stored.quarantineReason == "the server has 1 fence of test \(test), and 3 were sent")
    #expect(rig.lines.all.contains { $0.contains("3 fences of session 1 quarantined") })
    #expect(try await sender.pass(.quarantined).sessionsQuarantined == 1)
    #expect(try await rig.tool.fences().count == 1, "the server already has a fence of its test")
    let warning =
      "not sent again, the server has 1 fence of its test \(test); submit --quarantined --force sends all 3"
    #expect(rig.lines.all.filter { $0.contains(warning) }.count == 1)
    #expect(try await sender.pass(.quarantined, urgency: .forced).sessionsSent == 1)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }

  @Test("when faults occur at random, then the server holds every fence once afterwards")
  func chaos() async throws {
    let rig = try await SendingRig(requestTimeout: .milliseconds(300))
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    let faults = ["none", "none", "503", "reset", "drop-answer", "empty", "429", "hang:1", "slow:0.4", "late:0.5"]
    let paths = ["settings", "coverageRequest", "coverageResult", "coverageResult", "coverageResult", "history"]
    var sender = try rig.sender { $0.fencesPerRequest = 3 }
    for round in 0..<12 {
      _ = try rig.record(tests: [nil], fences: 4, started: Double(round) * 60)
      for _ in 0..<3 {
        let fault = faults.randomElement(using: &generator) ?? "none"
        try await rig.tool.setFault(fault, on: paths.randomElement(using: &generator) ?? "*", count: 1)
      }
      // Some rounds start a new process or cancel the pass.
      if round % 3 == 0 { sender = try rig.sender { $0.fencesPerRequest = 3 } }
      let pass = Task { [sender] in try await sender.pass(.cold, urgency: .forced) }
      if round % 4 == 1 { pass.cancel() }
      _ = try await pass.value
      rig.time.turn(by: .seconds(400))
    }
    try await rig.tool.clearFaults()
    // Four passes are enough. On a busy machine, some answers miss the timeout of 300 ms.
    for pass in 0..<20 where try pass < 4 || rig.states().contains(where: { $0 != .submitted }) {
      rig.time.turn(by: .seconds(400))
      _ = try await sender.pass(.quarantined)
    }
    #expect(try rig.states().allSatisfy { $0 == .submitted })
    #expect(try await rig.holdsAllOnce(48))
    try await rig.finish()
  }

  @Test(
    "when a server stores a suspect batch and answers nothing, and its history then fails, then the batch is not split")
  func storedButSwallowed() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], fences: 6, started: 600)
    let sender = try rig.sender()
    try await rig.tool.setFault("empty-if:fences", on: "coverageResult", count: 3)
    for _ in 0..<3 { #expect(try await sender.pass(.cold).sessionsKept == 1) }
    rig.time.turn(by: .seconds(3600))
    let drive = try rig.record(tests: [nil], fences: 1)
    #expect(try await sender.pass(.drive(drive)).sessionsSent == 1)
    try await rig.tool.setFault("none", on: "history", count: 2)
    try await rig.tool.setFault("500", on: "history", count: 1)
    try await rig.tool.setFault("stored:204", on: "coverageResult", count: 1)
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    #expect(try await rig.holdsAllOnce(6 + 1))
    try await rig.finish()
  }
}
