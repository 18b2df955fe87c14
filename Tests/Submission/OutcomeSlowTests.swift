import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Submission

/// Each class of answers, by faults of the real control server tool. Serialized: each test starts a server of its own.
@Suite(.serialized)
struct OutcomeSlowTests {
  @Test(
    "when the server fails in any way, then no fence is lost or duplicated",
    arguments: [
      "401", "403", "404", "406", "429", "429-retry-after:0", "429-retry-after:30", "500", "502", "503", "empty",
      "html", "error", "reset",
      "hang:30", "drop-answer",
    ])
  func faults(fault: String) async throws {
    // A busy machine answers late: only the fault that never answers needs a short timeout.
    let rig = try await SendingRig(requestTimeout: .seconds(fault == "hang:30" ? 2 : 20))
    let drive = try rig.record(tests: [try await rig.test(), nil], fences: 3)
    try await rig.tool.setFault(fault, on: "coverageResult", count: 1)
    let sender = try rig.sender()
    let first = try await sender.pass(.drive(drive))
    #expect(first.sessionsQuarantined == 0)
    #expect(first.firstFailure != nil)
    // After one batch's trouble, the next batch is sent at once; a Retry-After holds it.
    #expect(first.sessionsKept == (fault == "429-retry-after:30" ? 2 : 1))
    rig.time.turn(by: .seconds(fault == "429-retry-after:30" ? 30 : 0))
    let second = try await sender.pass(.cold)
    #expect(second.sessionsKept == 0)
    #expect(try await rig.holdsAllOnce(6))
    #expect(try rig.states() == [.submitted, .submitted])
    #expect(try await sender.pass(.cold) == PassReport())
    try await rig.finish()
  }

  @Test("when a registration or a request for a test fails, then no fence is lost or duplicated")
  func preparations() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [nil], fences: 3)
    let sender = try rig.sender()
    for (path, fault) in [
      ("settings", "500"), ("settings", "empty"), ("coverageRequest", "400"), ("coverageRequest", "reset"),
      ("coverageRequest", "drop-answer"), ("coverageRequest", "html"),
    ] {
      try await rig.tool.setFault(fault, on: path, count: 1)
      #expect(try await sender.pass(.drive(drive)).sessionsKept == 1, "\(path) \(fault)")
      try await rig.tool.clearFaults()
    }
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

  @Test(
    "when every batch meets 401 or 403, then a pass ends after two, and background passes pause for 15 min, across restarts",
    arguments: ["401", "403"])
  func forbidden(fault: String) async throws {
    let rig = try await SendingRig()
    for number in 0..<4 { _ = try rig.record(tests: [nil], started: 600 * Double(number)) }
    try await rig.tool.setFault(fault, on: "coverageResult")
    let sender = try rig.sender()
    #expect(try await sender.pass(.cold).sessionsKept == 4)
    #expect(!rig.lines.all.contains { $0.contains("trying again") }, "only background passes try again")
    #expect(try await rig.requests("coverageResult") == 2)
    rig.time.turn(by: .seconds(900))
    #expect(try await sender.pass(.cold, urgency: .background).fencesSent == 0)
    #expect(try await rig.requests("coverageResult") == 4)
    #expect(rig.lines.all.contains { $0.contains("refuses this device; trying again in 15 min") })
    #expect(await sender.status.nextAttemptInMilliseconds == 900_000)
    let next = try rig.sender()
    #expect(await next.status.nextAttemptInMilliseconds == 900_000, "in the next process too")
    try await rig.tool.clearFaults()
    #expect(try await sender.pass(.cold).sessionsSent == 4)
    try await rig.finish()
  }

  @Test("when the clock is not set, then the report counts the waiting sessions, without refused ones")
  func unsetClock() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    _ = try rig.record(tests: [nil], started: 60)
    let sender = try rig.sender()
    rig.time.wallError = .seconds(-20 * 365 * 86_400)
    let before = try await sender.pass(.cold)
    #expect(before.hold == .clock && before.sessionsKept == 2)
    let session = try #require(try StoreReader(rig.store).sessions().first?.id)
    try await rig.store.outbox.makeBatches(of: [session], limit: 400, at: .rigStart)
    for batch in try await rig.store.outbox.batches(of: [session], in: [.waiting]) {
      try await rig.store.outbox.quarantine(batch: batch, reason: "refused", at: .rigStart)
    }
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    #expect(try await rig.requests("coverageRequest") == 0)
    try await rig.finish()
  }

  // MARK: 429

  @Test("when the server answers 429 three times, then only forced requests leave for 30 s, in the next process too")
  func breaker() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil, nil, nil, nil])
    try await rig.tool.setFault("429", on: "coverageResult")
    let report = try await rig.sender().pass(.cold)
    #expect(report.sessionsKept == 4)
    #expect(try await rig.requests("coverageResult") == 3)
    let requests = try await rig.paths().count

    let next = try rig.sender()
    let held = try await next.pass(.cold)
    guard case .gate(.breaker(let wait)) = held.hold else {
      Issue.record("\(held)")
      return
    }
    #expect(wait > .seconds(25) && wait <= .seconds(33))
    #expect(held.sessionsKept == 4)
    #expect(await next.status.breaker.state == .open)
    #expect(try await rig.paths().count == requests, "no request leaves")

    #expect(try await next.pass(.cold, urgency: .forced).sessionsKept == 4)
    #expect(try await rig.requests("coverageResult") == 4, "one trial")
    #expect(await next.status.breaker.step == 2)
    try await rig.tool.clearFaults()
    rig.time.turn(by: .seconds(67))
    #expect(try await next.pass(.cold).sessionsSent == 4)
    #expect(await next.status.breaker.state == .closed)
    #expect(try await rig.holdsAllOnce(8))
    try await rig.finish()
  }

  @Test(
    "when the server sends any Retry-After, then the breaker opens for 30 s at least, and for an hour and its jitter at most"
  )
  func retryAfter() async throws {
    let rig = try await SendingRig()
    let sender = try rig.sender { $0.gate.breaker = CircuitBreaker.Policy(threshold: 1) }
    let values = Self.chosenRetryAfterValues
    for (round, (value, expected)) in values.enumerated() {
      _ = try rig.record(tests: [nil], fences: 1, started: Double(round))
      try await rig.tool.setFault("429-retry-after:\(value)", on: "coverageResult", count: 1)
      _ = try await sender.pass(.warm)
      let breaker = await sender.status.breaker
      #expect(breaker.state == .open, "\(value)")
      // The clock of the test stands still; the jitter is half of 10 %.
      let wait = breaker.remaining(at: rig.time.clock.boot())
      #expect(wait == .milliseconds(expected * 1050), "\(value)")
      #expect(try await sender.pass(.warm).hold != nil, "\(value)")
      rig.time.turn(by: wait)
      #expect(try await sender.pass(.warm).sessionsSent == 1, "\(value)")
    }
    #expect(try await rig.holdsAllOnce(values.count))
    try await rig.finish()
  }

  /// Every sixth; all of them with RETRY_AFTER=all in the environment.
  private static var chosenRetryAfterValues: [(String, Int)] {
    if ProcessInfo.processInfo.environment["RETRY_AFTER"] == "all" { return retryAfterValues }
    return retryAfterValues.enumerated().filter { $0.offset % 6 == 0 }.map(\.element)
  }

  /// Values, and the seconds for which the breaker opens.
  private static let retryAfterValues: [(String, Int)] =
    ["0", "1", "5", "29", "30", "007", "0000000000000000000000000000000"].map { ($0, 30) }
    + [("31", 31), ("60", 60), ("600", 600), ("3599", 3599), ("3600", 3600)]
    + ["3601", "86400", "4294967296", "9223372036854775807", "9223372036854775808", "99999999999999999999999999"].map {
      ($0, 3600)
    }
    + [
      "-1", "-0", "+60", "60.5", "6e1", "0x3C", "NaN", "Infinity", "null", "true", "soon", "60s", "60 s", "1m", "PT1M",
      "60,120", "60;q=1", "\"60\"", "[60]", "2026-11-20T10:00:00Z", "1795168800.5", "Fri, 99 Nov 2026 10:00:00 GMT",
      "Fri, 20 Nov 2026 10:00:00 CET", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994", "Thu, 01 Jan 1970 00:00:00 GMT",
    ].map { ($0, 30) }
    + [("Fri, 31 Dec 9999 23:59:59 GMT", 3600)]

  @Test("when the server is in trouble, then background passes wait, and commanded passes do not")
  func backgroundWaits() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    try await rig.tool.setFault("503", on: "settings")
    let sender = try rig.sender()
    _ = try await sender.pass(.cold)
    let requests = try await rig.paths().count
    guard case .gate(.trouble) = try await sender.pass(.warm, urgency: .background).hold else {
      Issue.record("the background pass did not wait")
      return
    }
    #expect(try await rig.paths().count == requests)
    #expect(await sender.status.nextAttemptInMilliseconds > 0)
    _ = try await sender.pass(.warm)
    #expect(try await rig.paths().count == requests + 1)
    try await rig.finish()
  }

  // MARK: Refusals

  /// A fence whose offset the server cannot hold: 32 bits of milliseconds are 24.8 days.
  private func refused(_ number: Int) -> Fence { .sample(number: number, entered: 30 * 86_400 + Double(number)) }

  @Test("when one fence is bad, then the session is split down to it, and all others arrive, each part in its own test")
  func split() async throws {
    let rig = try await SendingRig()
    let tests = try await rig.tests(2)
    _ = try rig.record(tests: [tests[0]], started: 0)
    let drive = try rig.record(tests: [tests[1]], fences: 7, started: 60) { number, fence in
      number == 4 ? refused(number) : fence
    }
    let sender = try rig.sender {
      $0.retention = Retention(maxAge: .seconds(365 * 86_400), keep: .seconds(365 * 86_400))
    }
    let report = try await sender.pass(.cold)
    #expect(report.sessionsQuarantined == 1)
    #expect(report.sessionsSent == 1, "it does not hold up the rest")
    #expect(report.fencesSent == 8)
    #expect(try await rig.holdsAllOnce(8))
    let stored = try #require(try StoreReader(rig.store).sessions().first { $0.drive == drive })
    #expect(stored.state(isWriterAlive: false) == .quarantined)
    #expect(stored.quarantinedFences == 1)
    #expect(stored.submittedFences == 6)
    #expect(stored.quarantineReason?.contains("offset_ms") == true)
    let holders = Set(try await rig.tool.fences().map(\.test))
    #expect(holders.contains(try #require(stored.session.testUUID)), "its test has fences of it")
    #expect(try await sender.pass(.cold) == PassReport(), "it is not sent again by itself")
    let again = try await sender.pass(.quarantined)
    #expect(again.sessionsQuarantined == 1, "but on command")
    #expect(try await rig.holdsAllOnce(8))
    try await rig.finish()
  }

  @Test(
    "when everything is refused, then each fence is quarantined, and all arrive together on command later",
    arguments: ["400", "409", "413", "422"])
  func allRefused(fault: String) async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], fences: 5)
    try await rig.tool.setFault(fault, on: "coverageResult")
    let sender = try rig.sender()
    #expect(try await sender.pass(.cold).sessionsQuarantined == 1)
    #expect(try StoreReader(rig.store).sessions().map(\.quarantinedFences) == [5])
    try await rig.tool.clearFaults()
    #expect(try await sender.pass(.cold) == PassReport())
    #expect(try await sender.pass(.quarantined).sessionsSent == 1)
    #expect(try await rig.holdsAllOnce(5))
    #expect(try rig.states() == [.submitted])
    try await rig.finish()
  }

  @Test("when the server stores a batch and refuses it all the same, then no fence goes again")
  func storedAndRefused() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [try await rig.test()], fences: 5)
    try await rig.tool.setFault("stored:409", on: "coverageResult", count: 1)
    #expect(try await rig.sender().pass(.drive(drive)).sessionsSent == 1)
    #expect(try await rig.requests("coverageResult") == 1)
    #expect(try await rig.holdsAllOnce(5))
    try await rig.finish()
  }

  @Test("when a server refuses everything, then a background pass does not submit every single fence")
  func refusingServer() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], fences: 60)
    try await rig.tool.setFault("400", on: "coverageResult")
    let sender = try rig.sender()
    #expect(try await sender.pass(.warm, urgency: .background).sessionsKept == 1)
    #expect(try await rig.requests("coverageResult") == 20)
    try await rig.tool.clearFaults()
    _ = try await sender.pass(.quarantined)
    #expect(try await rig.holdsAllOnce(60))
    try await rig.finish()
  }

  @Test("when the stored breaker is damaged, then a sender begins with a closed one and logs it")
  func damagedBreaker() async throws {
    let rig = try await SendingRig()
    try await rig.store.servers.setGateMemory("{\"state\":\"ajar\"}", at: rig.tool.url)
    _ = try rig.record(tests: [nil])
    let sender = try rig.sender()
    #expect(rig.lines.all.contains { $0.contains("requests may leave now") })
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    try await rig.finish()
  }

  @Test("when the server answers a bad fence with an empty body, then in the end only that fence is quarantined")
  func swallowed() async throws {
    let rig = try await SendingRig()
    // The newest session, so that it is sent first.
    _ = try rig.record(tests: [nil], fences: 6, started: 600) { number, fence in
      number == 2 ? .sample(number: 2, entered: 8, latitude: 48.654321) : fence
    }
    try await rig.tool.setFault("empty-if:48.654321", on: "coverageResult")
    let sender = try rig.sender()
    for day in 0..<4 {
      _ = try rig.record(tests: [nil], fences: 1, started: Double(day))
      _ = try await sender.pass(.cold)
      // Within an hour, the request without a usable answer could have arrived.
      rig.time.turn(by: .seconds(3600))
    }
    #expect(try await rig.holdsAllOnce(5 + 4))
    #expect(try StoreReader(rig.store).sessions().map(\.quarantinedFences).reduce(0, +) == 1)
    try await rig.finish()
  }

  /// A rig with a batch of six fences, one of them bad, that the server has answered three times with an empty body, an hour ago.
  private func rigWithSwallowedBatch() async throws -> (rig: SendingRig, sender: Sender) {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], fences: 6, started: 600) { number, fence in
      number == 2 ? .sample(number: 2, entered: 8, latitude: 48.654321) : fence
    }
    try await rig.tool.setFault("empty-if:48.654321", on: "coverageResult")
    let sender = try rig.sender()
    for _ in 0..<3 { #expect(try await sender.pass(.cold).sessionsKept == 1) }
    rig.time.turn(by: .seconds(3600))
    return (rig, sender)
  }

  private func quarantined(_ rig: SendingRig) throws -> Int {
    try StoreReader(rig.store).sessions().map(\.quarantinedFences).reduce(0, +)
  }

  @Test("when a swallowed batch is tried alone after its hour, then it is split as soon as another one is accepted")
  func swallowedAlone() async throws {
    let (rig, sender) = try await rigWithSwallowedBatch()
    for _ in 0..<3 {
      #expect(try await sender.pass(.cold).sessionsKept == 1, "no other batch is accepted")
      rig.time.turn(by: .seconds(900))
    }
    _ = try rig.record(tests: [nil], fences: 1)
    #expect(try await sender.pass(.cold).sessionsQuarantined == 1)
    #expect(try await rig.holdsAllOnce(5 + 1))
    #expect(try quarantined(rig) == 1)
    try await rig.finish()
  }

  @Test(
    "when the pass just before accepted a batch, then a swallowed one is split; a minute later that proves nothing",
    arguments: [(60, 5, 1), (61, 0, 0)])
  func swallowedAfterDrive(seconds: Int, good: Int, bad: Int) async throws {
    let (rig, sender) = try await rigWithSwallowedBatch()
    let drive = try rig.record(tests: [nil], fences: 1)
    #expect(try await sender.pass(.drive(drive)).sessionsSent == 1)
    rig.time.turn(by: .seconds(seconds))
    _ = try await sender.pass(.cold)
    #expect(try await rig.holdsAllOnce(good + 1))
    #expect(try quarantined(rig) == bad)
    try await rig.finish()
  }

  @Test("when the answer to a swallowed batch is lost after its hour, then another hour begins, and nothing goes twice")
  func swallowedAndLost() async throws {
    let (rig, sender) = try await rigWithSwallowedBatch()
    try await rig.tool.clearFaults()
    try await rig.tool.setFault("503", on: "coverageResult", count: 1)
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    try await rig.tool.clearFaults()
    try await rig.tool.setFault("empty-if:48.654321", on: "coverageResult")
    for minutes in [0, 59] {
      rig.time.turn(by: .seconds(60 * minutes))
      _ = try rig.record(tests: [nil], fences: 1, started: Double(minutes))
      #expect(try await sender.pass(.cold).sessionsKept == 1, "the request without an answer may be under way")
    }
    rig.time.turn(by: .seconds(60))
    _ = try rig.record(tests: [nil], fences: 1, started: 120)
    _ = try await sender.pass(.cold)
    #expect(try await rig.holdsAllOnce(5 + 3))
    #expect(try quarantined(rig) == 1)
    try await rig.finish()
  }

  @Test("when the server has forgotten the device, then the device registers again and the drive arrives")
  func forgotten() async throws {
    let rig = try await SendingRig()
    let port = try #require(URL(string: rig.tool.url)?.port)
    let sender = try rig.sender()
    _ = try rig.record(tests: [nil])
    _ = try await sender.pass(.cold)
    let before = try await rig.store.servers.clientUUID(at: rig.tool.url)
    try await rig.tool.program.stop()
    let another = try await ControlServerTool(["--port", "\(port)"])
    _ = try rig.record(tests: [nil], started: 60)
    // The kept-alive connection is gone; that may cost a pass.
    let first = try await sender.pass(.cold).sessionsSent
    let second = try await sender.pass(.cold).sessionsSent
    #expect(first + second == 1)
    #expect(try await another.fences().count == 2)
    #expect(try await rig.store.servers.clientUUID(at: rig.tool.url) != before)
    try await another.program.stop()
  }
}
