import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// The parts of a run before and beside its threads. Edges are those of docs/protocol.md, 9.
@Suite struct RunTests {
  private func plan(_ server: LoopbackServer? = nil, host: String = "127.0.0.1") throws -> SpeedTestPlan {
    var plan = SpeedTestPlan(host: host, port: server?.port ?? 1, token: try MeasurementToken("t"))
    plan.opening = .native
    return plan
  }

  @Test("When the host has no address, then the run fails with the host's name")
  func unresolved() async throws {
    var plan = try plan()
    plan.access.family = .ipv6
    let run = SpeedTestRun(plan)
    let error = await #expect(throws: SpeedTestError.self) { try await run.run() }
    #expect(error?.unresolvedName == "127.0.0.1")
  }

  @Test("When the file of certificates cannot be read, then the run fails before it connects")
  func noCertificates() async throws {
    let server = try LoopbackServer(clock: StepClock())
    var plan = try plan(server)
    (plan.isEncrypted, plan.access.caFile) = (true, "/nowhere.pem")
    let run = SpeedTestRun(plan)
    await #expect(throws: SpeedTestError.tls("cannot read certificates from /nowhere.pem")) { try await run.run() }
    #expect(server.count == 0)
  }

  @Test("When no connection can begin, then the run fails with the first reason")
  func nothingListens() async throws {
    let closed = try BoundPort()
    var plan = SpeedTestPlan(host: "127.0.0.1", port: closed.port, token: try MeasurementToken("t"))
    plan.opening = .native
    let run = SpeedTestRun(plan)
    await #expect(throws: SpeedTestError.unreachable("Connection refused")) { try await run.run() }
  }

  @Test("Edge 7: when the token is refused on every connection, then the run fails with that error")
  func refusedTokens() async throws {
    let server = try LoopbackServer(clock: StepClock()) { $0.line == "TOKEN t" ? .say("ERR\n") : .serve }
    let run = SpeedTestRun(try plan(server))
    await #expect(throws: SpeedTestError.tokenRefused) { try await run.run() }
    #expect(server.count == 3)
  }

  @Test(
    "Edge 33: when the task of a run is cancelled, then the run ends as aborted, and its connections close without QUIT"
  )
  func cancelled() async throws {
    let server = try LoopbackServer(clock: StepClock()) { $0.line.hasPrefix("GETCHUNKS") ? .silence(0) : .serve }
    let run = SpeedTestRun(try plan(server))
    let task = Task { try await run.run() }
    _ = try await eventually("all connections are in the pre-test") {
      server.journal.count { $0.line.hasPrefix("GETCHUNKS") } == 3 ? true : nil
    }
    task.cancel()
    await #expect(throws: SpeedTestError.aborted) { try await task.value }
    _ = try await eventually("the connections end") {
      server.journal.count { $0.line == "end" } == 3 ? true : nil
    }
    #expect(!server.journal.contains { $0.line == "QUIT" })
  }

  @Test("When a run is aborted in the pre-test, then its bytes and its server are known, and no rate is")
  func partialOutcome() async throws {
    let server = try LoopbackServer(clock: StepClock()) { $0.line.hasPrefix("GETCHUNKS") ? .silence(0) : .serve }
    let plan = try plan(server)
    let run = SpeedTestRun(plan)
    let task = Task { try await run.run() }
    _ = try await eventually("a connection is in the pre-test") {
      server.journal.contains { $0.line.hasPrefix("GETCHUNKS") } ? true : nil
    }
    run.abort()
    await #expect(throws: SpeedTestError.aborted) { try await task.value }
    let figures = run.partialOutcome.figures(plan)
    #expect(figures.traffic == run.traffic && figures.traffic.received > 0 && figures.traffic.sent > 0)
    #expect(figures.serverVersion == "1.3.5" && figures.serverAddress == "127.0.0.1")
    #expect(figures.download == nil && figures.upload == nil)
  }

  @Test("When a run is aborted before it begins, then it ends as aborted")
  func abortedBefore() async throws {
    let server = try LoopbackServer(clock: StepClock())
    let run = SpeedTestRun(try plan(server))
    run.abort()
    await #expect(throws: SpeedTestError.aborted) { try await run.run() }
    #expect(!server.journal.contains { $0.line == "TOKEN t" })
  }

  @Test("When one connection begins and fails, then the run has an outcome with the reasons, and no error")
  func outcomeOfFailures() async throws {
    let server = try LoopbackServer(clock: StepClock()) { $0.line.hasPrefix("GETCHUNKS") ? .close : .serve }
    var plan = try plan(server)
    plan.threads = 1
    let outcome = try await SpeedTestRun(plan).run()
    #expect(outcome.failures == [.closed])
    #expect(outcome.serverVersion == "1.3.5")
    #expect(!outcome.isComplete && outcome.download == nil && outcome.pings.isEmpty)
  }
}
