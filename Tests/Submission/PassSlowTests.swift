import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Submission

/// The sessions that a pass selects, their parts, and concurrent passes.
@Suite(.serialized)
struct PassSlowTests {
  @Test("when a pass is warm, then it skips the unfinished sessions of an earlier run; a cold pass ends and sends them")
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
    #expect(report.fencesOfRunningDrives == 4)
    let sessions = try StoreReader(rig.store).sessions().filter { $0.drive == running }
    #expect(sessions.map(\.fences) == [2, 2])
    #expect(sessions.allSatisfy { $0.submittedFences == 0 })
    #expect(try await rig.tool.fences().count == 2)
    await sender.setRunningDrives(from: nil)
    try await rig.finish()
  }

  @Test("when a fence of a drive is refused, then its pass still counts as unhindered; a pass in trouble does not")
  func refusedBeforeOthers() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], started: 0)
    let drive = try rig.record(tests: [nil], fences: 3, started: 60) { number, fence in
      number == 1 ? .sample(number: 1, entered: 30 * 86_400) : fence
    }
    let sender = try rig.sender()
    try await rig.tool.setFault("503", on: "settings", count: 1)
    #expect(try await sender.pass(.drive(drive)).isUnhindered == false)
    let report = try await sender.pass(.drive(drive))
    #expect(report.sessionsQuarantined == 1 && report.isUnhindered)
    #expect(try await sender.pass(.cold).sessionsSent == 1)
    try await rig.finish()
  }

  @Test("when a session is missing, then its fences wait until they are old enough and a cold pass runs")
  func orphans() async throws {
    let rig = try await SendingRig()
    let drive = try rig.record(tests: [nil], fences: 3)
    try await rig.store.loseSessions(of: drive)
    let early = try rig.sender { $0.legacyThreshold = .seconds(8000) }
    #expect(try await early.pass(.cold).fencesWithoutSession == 3, "too young")
    let sender = try rig.sender()
    let warm = try await sender.pass(.warm)
    #expect(warm.fencesWithoutSession == 3 && warm.fencesSent == 0)
    #expect(rig.lines.all.contains { $0.contains("3 fences without a session skipped, until a cold pass") })
    #expect(try await sender.pass(.cold).fencesSent == 3)
    #expect(try await rig.holdsAllOnce(3))
    try await rig.finish()
  }

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
    #expect(Set(fences.map(\.session.session.testUUID)).count == 3, "export has the test of each fence")
    try await rig.finish()
  }

  @Test("when passes are requested concurrently, then they run one after the other, and nothing is sent twice")
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

  @Test("when a waiting pass is cancelled, then it gives up its turn at once, and the next pass gets it")
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
}
