import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// Whole tests against the real tools/measurement-server on loopback, over a link that leaves the processors
/// to other tests. Edges are those of docs/protocol.md, 9.
struct ServerSlowTests {
  @Test("When a server of RMBThttp is tested, with a NUL before its greeting, then the test is whole (edges 1, 2, 3)")
  func http() async throws {
    let lab = try await Lab(["--http", "--fault", "nul"])
    var plan = try lab.plan()
    plan.opening = .http
    try Lab.expectWhole(try await SpeedTestRun(plan).run())
  }

  @Test("When the token was made with another secret, then the test fails with that reason (edge 7)")
  func refusedToken() async throws {
    let lab = try await Lab()
    let plan = try lab.plan(secret: "other")
    await #expect(throws: SpeedTestError.tokenRefused) { try await SpeedTestRun(plan).run() }
  }

  @Test("When fresh connections are closed before the greeting, then they are opened again (edge 5)")
  func closedFresh() async throws {
    let lab = try await Lab(["--fault", "close-first=4"])
    try Lab.expectWhole(try await SpeedTestRun(try lab.plan()).run())
  }

  @Test("When an upgrade is sent to a native server, then the error says so (docs/protocol.md, 7.1)")
  func upgradeToNative() async throws {
    let lab = try await Lab()
    var plan = try lab.plan()
    plan.opening = .http
    let wrong = plan
    await #expect(throws: SpeedTestError.upgradeRefused("it speaks RMBT without HTTP")) {
      try await SpeedTestRun(wrong).run()
    }
  }

  @Test("When the third connection drops out, then the others finish, and the result is theirs (edges 21, 29)")
  func dropOut() async throws {
    let lab = try await Lab(["--fault", "drop-third"])
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    #expect(outcome.failures == [.closed])
    #expect(outcome.isComplete)
    #expect(outcome.downloadCurves.count == 2 && outcome.uploadCurves.count == 2)
  }

  @Test("When the upload is never reported, then it is given up after t + 3.1 s, without a figure (edge 25)")
  func deafUpload() async throws {
    let lab = try await Lab(["--fault", "deaf"])
    let started = ProgressWatch()
    let plan = try lab.plan()
    let outcome = try await SpeedTestRun(plan).run()
    #expect(outcome.upload == nil && !outcome.isComplete)
    #expect(outcome.download != nil)
    #expect(outcome.failures == [.silence("the server reported no received byte in the upload")])
    let upload = try #require(outcome.figures(plan).upload)
    #expect(upload.isInterrupted && upload.silence == 1_000_000_000 && upload.connections == 3 && upload.broken == 0)
    // The server is silent for longer, on a busy machine too.
    #expect(started.passed < .seconds(30))
  }

  @Test(
    "When the server breaks the protocol or resets, then the test ends with its reasons, and without figures",
    arguments: ["wrong-chunk", "wrong-time", "reset"])
  func broken(fault: String) async throws {
    let lab = try await Lab(["--fault", fault], rate: nil)
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    #expect(outcome.failures.count == 3)
    #expect(outcome.download == nil && outcome.upload == nil && !outcome.isComplete)
  }

  @Test("When the server resets every connection in the download, then it is interrupted, and all of them count")
  func resetInDownload() async throws {
    let lab = try await Lab(["--fault", "reset"], rate: nil)
    let plan = try lab.plan()
    let figures = try await SpeedTestRun(plan).run().figures(plan)
    let download = try #require(figures.download)
    #expect(download.connections == 3 && download.broken == 3 && download.isInterrupted)
    #expect(figures.isInterrupted && !figures.isComplete && figures.upload == nil)
  }

  @Test("When a download stalls, then the bytes read so far count, at their own time (edges 24, 30)")
  func stall() async throws {
    let lab = try await Lab(["--fault", "stall"])
    let outcome = try await SpeedTestRun(try lab.plan()).run()
    let download = try #require(outcome.download)
    #expect(download.nanoseconds < 4_200_000_000)
    #expect(outcome.upload != nil)
  }

  @Test("When a test is aborted, then it ends at once as aborted")
  func abort() async throws {
    let lab = try await Lab()
    let run = SpeedTestRun(try lab.plan(seconds: 10))
    let started = ProgressWatch()
    await #expect(throws: SpeedTestError.aborted) {
      try await run.run { progress in
        if progress.phase == .download { run.abort() }
      }
    }
    #expect(started.passed < .seconds(8))
  }

  @Test("When the port is closed, then the error says so")
  func nothingListens() async throws {
    let lab = try await Lab()
    let plan = try lab.plan()
    try await lab.server.stop()
    await #expect(throws: SpeedTestError.unreachable("Connection refused")) { try await SpeedTestRun(plan).run() }
  }
}
