import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Test requests of drives, concurrent with passes, to the real control server tool.
@Suite(.serialized)
struct AskingSlowTests {
  @Test(
    "when a drive's request meets a Retry-After, then all unforced requests wait for it, in the next process too",
    arguments: [429, 503])
  func retryAfter(status: Int) async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil])
    let sender = try rig.sender()
    try await rig.tool.setFault("\(status)-retry-after:60", on: "coverageRequest", count: 1)
    await #expect(throws: ServerFailure.self) {
      try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
    }
    rig.time.turn(by: .seconds(59))
    let before = try await rig.paths().count
    for sender in [sender, try rig.sender()] {
      await #expect(throws: ServerGate.Hold.retryAfter(.seconds(1))) {
        try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
      }
      for urgency in [ServerGate.Urgency.background, .commanded] {
        let report = try await sender.pass(.cold, urgency: urgency)
        #expect(report.hold == .gate(.retryAfter(.seconds(1))))
        #expect(report.heldUntil == rig.time.clock.wall().later(by: .seconds(1)))
        #expect(report.sessionsKept == 1)
      }
    }
    #expect(try await rig.paths().count == before)
    #expect(try await rig.sender().pass(.cold, urgency: .forced).sessionsSent == 1)
    try await rig.finish()
  }

  @Test("when the server has forgotten the device, then a drive's request registers it again and gets its test")
  func forgotten() async throws {
    let rig = try await SendingRig()
    let port = try #require(URL(string: rig.tool.url)?.port)
    let sender = try rig.sender()
    _ = try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
    let before = try await rig.store.servers.clientUUID(at: rig.tool.url)
    try await rig.tool.program.stop()
    let another = try await ControlServerTool(["--port", "\(port)"])
    let grant = try await sender.tests.requestTest(loopUUID: nil, at: .rigStart)
    #expect(try await another.tests().map { $0["uuid"] as? String } == [grant.testUUID])
    #expect(try await rig.store.servers.clientUUID(at: rig.tool.url) != before)
    try await another.program.stop()
  }
}
