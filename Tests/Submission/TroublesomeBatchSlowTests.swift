import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Submission

/// Trouble of one batch, which delays no other batch, and trouble of the server, which ends a pass.
@Suite(.serialized)
struct TroublesomeBatchSlowTests {
  @Test(
    "when a session cannot get a test, then all others arrive, and it is tried after them from then on, across restarts",
    arguments: ["503", "400", "403", "404", "empty", "reset"])
  func noTest(fault: String) async throws {
    let rig = try await SendingRig()
    for (number, test) in try await rig.tests(3).enumerated() {
      _ = try rig.record(tests: [test], started: Double(number) * 60)
    }
    _ = try rig.record(tests: [nil], started: 600)
    try await rig.tool.setFault(fault, on: "coverageRequest")
    let first = try await rig.sender().pass(.cold)
    #expect((first.sessionsSent, first.sessionsKept) == (3, 1))
    #expect(first.firstFailure != nil)
    #expect(try await rig.requests("coverageRequest") == 3 + 1)

    _ = try rig.record(tests: [try await Self.testPastFault(rig)], started: 30)
    let before = try await rig.paths().count
    let second = try await rig.sender().pass(.cold)
    #expect((second.sessionsSent, second.sessionsKept) == (1, 1))
    #expect(try await rig.paths().dropFirst(before) == ["settings", "coverageResult", "coverageRequest"])
    try await rig.tool.clearFaults()
    #expect(try await rig.sender().pass(.cold).sessionsSent == 1)
    #expect(try await rig.holdsAllOnce(10))
    try await rig.finish()
  }

  private static func testPastFault(_ rig: SendingRig) async throws -> String {
    let test = try await {
      try await rig.tool.clearFaults(); return try await rig.test()
    }()
    try await rig.tool.setFault("empty", on: "coverageRequest")
    return test
  }

  @Test(
    "when the server creates no tests, then a pass stops after two requests for one, and all sessions with a test arrive"
  )
  func noTests() async throws {
    let rig = try await SendingRig()
    for (number, test) in try await rig.tests(2).enumerated() {
      _ = try rig.record(tests: [test], started: Double(number) * 60)
    }
    for number in 0..<5 { _ = try rig.record(tests: [nil], started: 600 + Double(number) * 60) }
    try await rig.tool.setFault("empty", on: "coverageRequest")
    let before = try await rig.requests("coverageRequest")
    let report = try await rig.sender().pass(.cold)
    #expect((report.sessionsSent, report.sessionsKept) == (2, 5))
    #expect(try await rig.requests("coverageRequest") == before + 2)
    #expect(rig.lines.all.contains { $0.contains("makes no tests now; 3 more batches") })
    try await rig.finish()
  }

  @Test(
    "when the history cannot be read, then a doubtful batch waits until it can, and all others arrive",
    arguments: ["503", "404", "403", "empty", "reset"])
  func noHistory(fault: String) async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], started: 600)
    let sender = try rig.sender()
    try await rig.tool.setFault("drop-answer", on: "coverageResult", count: 1)
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    try await rig.tool.setFault(fault, on: "history")
    for number in 0..<3 {
      _ = try rig.record(tests: [nil, nil], started: Double(number) * 60)
      let report = try await rig.sender().pass(.cold)
      #expect((report.sessionsSent, report.sessionsKept) == (2, 1))
      #expect(report.firstFailure != nil)
    }
    try await rig.tool.clearFaults()
    #expect(try await rig.sender().pass(.cold).sessionsSent == 1)
    #expect(try await rig.requests("coverageResult") == 7, "the doubtful batch is not sent again")
    #expect(try await rig.holdsAllOnce(14))
    try await rig.finish()
  }

  @Test(
    "when two different batches in a row meet the same failure, then it counts as the server's, and no third one is sent",
    arguments: ["500", "503", "reset", "empty", "404", "403"])
  func server(fault: String) async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: try await rig.tests(5))
    try await rig.tool.setFault(fault, on: "coverageResult")
    let report = try await rig.sender().pass(.cold)
    #expect(report.wasEndedByServer)
    #expect(report.sessionsKept == 5)
    #expect(try await rig.requests("coverageResult") == 2)
    try await rig.finish()
  }

  @Test("when batches fail with successes in between, then the pass goes on to the end")
  func notInARow() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: try await rig.tests(6))
    for fault in ["503", "none", "503", "none", "503"] {
      try await rig.tool.setFault(fault, on: "coverageResult", count: 1)
    }
    let report = try await rig.sender().pass(.cold)
    #expect((report.sessionsSent, report.sessionsKept) == (3, 3))
    #expect(!report.wasEndedByServer)
    #expect(try await rig.sender().pass(.cold).sessionsSent == 3)
    #expect(try await rig.holdsAllOnce(12))
    try await rig.finish()
  }

  @Test("when the only batch meets trouble, then background passes wait before they try it again")
  func onlyBatch() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    try await rig.tool.setFault("404", on: "coverageRequest")
    let sender = try rig.sender()
    #expect(try await sender.pass(.cold).sessionsKept == 1)
    #expect(await sender.status.nextAttemptInMilliseconds == 16_000)
    try await rig.finish()
  }
}
