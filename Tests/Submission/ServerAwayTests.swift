import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// A pass asks the server before it looks at what waits: that can be thousands of sessions.
struct ServerAwayTests {
  private static let away = ServerFailure.unreachable("http://spy: Connection refused")
  private static let stranger = ServerFailure.refused(status: 400, message: "No client found")

  private func record(_ sessions: Int, in rig: GateRig) throws {
    for number in 0..<sessions {
      var recorder = try DriveRecorder(
        rig.store, started: .rigStart.later(by: .seconds(Double(number) * 60)), log: nil, server: rig.spy.url)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(40))],
        fences: [.sample(number: 0), .sample(number: 1, entered: 20)], seen: .seconds(40))
      try recorder.end(at: .seconds(40), reason: .user)
    }
  }

  private func batches(_ rig: GateRig) async throws -> Int? {
    try await rig.store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") }
  }

  @Test("when the server is away, then a pass asks it once, makes no batch, and counts what waits; later it sends all")
  func away() async throws {
    let rig = try GateRig { step, count in if step == .settings, count < 2 { throw Self.away } }
    try record(3, in: rig)
    let sender = try rig.sender()
    for pass in 1...2 {
      let report = try await sender.pass(.cold, urgency: .forced)
      #expect((report.sessionsKept, report.fencesSent) == (3, 0))
      #expect(report.firstFailure == Self.away && !report.isUnhindered)
      #expect(rig.spy.requests == Array(repeating: .settings, count: pass))
      #expect(try await batches(rig) == 0)
    }
    #expect(rig.lines.all.count { $0.hasSuffix("cold pass: 3 sessions") } == 2)
    #expect(rig.lines.all.count { $0.hasSuffix("cold pass ends: \(Self.away)") } == 2)
    let report = try await sender.pass(.cold, urgency: .forced)
    #expect((report.sessionsSent, report.sessionsKept, report.fencesSent) == (3, 0, 6))
    #expect(rig.spy.requests.count { $0 == .settings } == 3, "the batches need no other one")
  }

  @Test("when batches of an earlier pass wait, then a pass to a server that is away counts them as before")
  func madeBefore() async throws {
    let rig = try GateRig { step, count in
      if step == .coverageResult || step == .settings && count > 0 { throw Self.away }
    }
    try record(2, in: rig)
    let sender = try rig.sender()
    for _ in 0..<2 { #expect(try await sender.pass(.cold, urgency: .forced).sessionsKept == 2) }
    #expect(rig.spy.requests.suffix(1) == [.settings])
    #expect(try await batches(rig) == 2)
  }

  @Test("when the server does not even know the device in its registration, then a pass ends after the second one")
  func stranger() async throws {
    let rig = try GateRig { step, _ in if step == .settings { throw Self.stranger } }
    try record(2, in: rig)
    #expect(try await rig.sender().pass(.cold).sessionsKept == 2)
    #expect(rig.spy.requests == [.settings, .settings])
  }

  @Test("when all that waits is damaged, then a pass makes no request", arguments: [false, true])
  func damaged(isInBatch: Bool) async throws {
    let rig = try GateRig()
    try record(1, in: rig)
    if isInBatch { try await rig.store.outbox.makeBatches(of: [1], limit: 400, at: .rigStart) }
    try await rig.store.damage("UPDATE fence SET latitude = 48.5")
    #expect(try StoreReader(rig.store).unsentSessions().map(\.waitingFences) == [2])
    let report = try await rig.sender().pass(.cold)
    #expect(report.sessionsKept == 0 && rig.spy.requests.isEmpty)
    #expect(rig.lines.all.contains { $0.hasSuffix("cold pass: nothing to send") })
  }
}
