import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Delivery of speed test results to the real control server tool: none lost, none duplicated.
@Suite(.serialized)
struct SpeedTestDeliverySlowTests {
  private func rig(requestTimeout: Duration = .seconds(60)) async throws -> SendingRig {
    // Nothing is measured here: the server's address is never used.
    try await SendingRig(requestTimeout: requestTimeout, tool: ["--measurement-server", "127.0.0.1:1"])
  }

  /// The start of a test that the server has made.
  private func start(_ rig: SendingRig, number: Int = 1) async throws -> SpeedTestOutbox.Start {
    let granted = try await rig.sender().tests.requestSpeedTest { client in
      var request = SpeedTestRequest(clientUUID: client, time: .rigStart)
      request.loop = .init(uuid: nil, number: number, count: 10, every: .seconds(900), distance: 250)
      return request
    }
    var start = SpeedTestOutbox.Start(
      controlServer: granted.url, clientUUID: granted.clientUUID, testUUID: granted.grant.testUUID,
      token: granted.grant.token, started: .rigStart)
    (start.loopUUID, start.number) = (granted.grant.loopUUID, number)
    start.technology = Technology("4G/LTE")
    return start
  }

  /// A test that the server has made and that has ended.
  @discardableResult
  private func test(
    _ rig: SendingRig, _ outcome: StoredSpeedTest.Outcome = .completed, figures: SpeedTestFigures = .sample(),
    number: Int = 1
  ) async throws -> Int64 {
    let id = try await rig.store.speedTests.begin(try await start(rig, number: number))
    try await rig.store.speedTests.end(
      id, .init(outcome, at: .rigStart.later(by: .seconds(20)), figures: figures, error: "why"))
    return id
  }

  private func states(_ rig: SendingRig) throws -> [StoredSpeedTest.State] {
    try StoreReader(rig.store).speedTests().map(\.state)
  }

  private func accepted(_ rig: SendingRig) async throws -> [Int] {
    try await rig.tool.speedTests().map { $0["results_accepted"] as? Int ?? -1 }
  }

  @Test(
    "when the disk refuses a test, then it is sent from memory, and is stored as sent when the disk returns",
    arguments: [false, true])
  func fromMemory(isBegun: Bool) async throws {
    let rig = try await rig()
    let start = try await start(rig)
    let row = isBegun ? try await rig.store.speedTests.begin(start) : nil
    func execute(_ sql: String) async throws { try await rig.store.store.write { try $0.execute(sql: sql) } }
    try await execute("CREATE TRIGGER refusal BEFORE INSERT ON unsent BEGIN SELECT RAISE(FAIL, 'disk'); END")
    let sender = try rig.sender()
    try await sender.hold(
      start, .init(.completed, at: .rigStart.later(by: .seconds(20)), figures: .sample()), as: row)
    #expect(try await sender.pass(.memory).speedTests.sent == 1)
    #expect(try states(rig) == (isBegun ? [.measuring] : []))
    try await execute("DROP TRIGGER refusal")
    #expect(try await sender.pass(.memory).speedTests == SpeedTestTally())
    #expect(try states(rig) == [.submitted])
    _ = try await rig.sender().pass(.cold)
    #expect(try await accepted(rig) == [1])
    #expect(try await rig.requests("result") == 1)
    try await rig.finish()
  }

  @Test("when a test has a result, then the pass sends it with its figures, number and loop, once")
  func result() async throws {
    let rig = try await rig()
    try await test(rig, number: 7)
    let report = try await rig.sender().pass(.warm)
    #expect(report.speedTests.sent == 1 && report.sessionsSent == 0)
    #expect(rig.lines.all.contains { $0.hasSuffix("warm pass: 1 speed test") })
    let held = try #require(try await rig.tool.speedTests().first)
    #expect(held["state"] as? String == "FINISHED" && held["results_accepted"] as? Int == 1)
    #expect(held["test_speed_download"] as? Int == 47_800 && held["test_speed_upload"] as? Int == 19_100)
    #expect(held["test_counter"] as? Int == 7 && held["network_type"] as? Int == 13)
    #expect(try states(rig) == [.submitted])
    #expect(try await rig.sender().pass(.warm).speedTests == SpeedTestTally())
    #expect(try await rig.requests("result") == 1)
    try await rig.finish()
  }

  @Test("when a test failed or was aborted, then the pass reports that to the server, and sends no result")
  func closing() async throws {
    let rig = try await rig()
    try await test(rig, .failed)
    try await test(rig, .aborted)
    #expect(try await rig.sender().pass(.warm).speedTests.sent == 2)
    #expect(try await rig.tool.speedTests().map { $0["state"] as? String } == ["ERROR", "ABORTED"])
    #expect(try await rig.requests("result") == 0)
    #expect(try states(rig) == [.submitted, .submitted])
    try await rig.finish()
  }

  @Test(
    "when the answer is lost, then the result is sent again, and the server holds it once",
    arguments: ["drop-answer", "reset", "empty"])
  func lostAnswer(fault: String) async throws {
    let rig = try await rig()
    try await test(rig)
    try await rig.tool.setFault(fault, on: "result", count: 1)
    #expect(try await rig.sender().pass(.warm).speedTests.kept == 1)
    #expect(try states(rig) == [.sending])
    #expect(try await rig.sender().pass(.warm).speedTests.sent == 1)
    #expect(try states(rig) == [.submitted])
    #expect(try await accepted(rig) == [1])
    try await rig.finish()
  }

  @Test("when the process dies before the first byte of the request, then the next process sends the result")
  func diedBefore() async throws {
    let rig = try await rig()
    let id = try await test(rig)
    try await rig.store.speedTests.beginSending(id, .result, at: .rigStart)
    #expect(try await rig.sender().pass(.warm).speedTests.sent == 1)
    #expect(try await accepted(rig) == [1])
    try await rig.finish()
  }

  @Test("when a result was never sent and the server has closed the test, then it is quarantined, and stays stored")
  func closedByOthers() async throws {
    let rig = try await rig()
    let id = try await test(rig)
    let stored = try #require(try StoreReader(rig.store).speedTests().first)
    try await rig.client.submit(
      rig.client.device.prepareClosing(clientUUID: stored.clientUUID, testUUID: stored.testUUID, isFailed: true))
    #expect(try await rig.sender().pass(.warm).speedTests.quarantined == 1)
    let refused = try #require(try StoreReader(rig.store).speedTests().first { $0.id == id })
    #expect(refused.state == .quarantined && refused.reason?.contains("invalid test status") == true)
    #expect(refused.figures == .sample())
    #expect(try await rig.sender().pass(.warm).speedTests == SpeedTestTally(), "not again without a command")
    #expect(try await rig.sender().pass(.quarantined).speedTests.quarantined == 1)
    try await rig.finish()
  }

  @Test("when the server refuses one result, then the others are sent in the same pass")
  func oneRefused() async throws {
    let rig = try await rig()
    try await test(rig)
    try await test(rig, figures: .sample(upload: 900_000_000))
    try await test(rig)
    let report = try await rig.sender().pass(.warm)
    #expect(report.speedTests.sent == 2 && report.speedTests.quarantined == 1)
    #expect(try await accepted(rig).sorted() == [0, 1, 1])
    try await rig.finish()
  }

  @Test("when one result meets trouble of the server, then it goes behind the others, and is sent later")
  func trouble() async throws {
    let rig = try await rig()
    for _ in 0..<3 { try await test(rig) }
    try await rig.tool.setFault("500", on: "result", count: 1)
    let report = try await rig.sender().pass(.warm)
    #expect(report.speedTests.sent == 2 && report.speedTests.kept == 1)
    #expect(try await rig.sender().pass(.warm).speedTests.sent == 1)
    #expect(try await accepted(rig) == [1, 1, 1])
    try await rig.finish()
  }

  @Test("when the server answers 429 until the breaker opens, then all results wait, and none is lost")
  func tooMany() async throws {
    let rig = try await rig()
    for _ in 0..<4 { try await test(rig) }
    try await rig.tool.setFault("429", on: "result", count: 3)
    let sender = try rig.sender()
    let report = try await sender.pass(.warm)
    #expect(report.speedTests.sent == 0)
    #expect(report.speedTests.kept == 4)
    #expect(report.hold != nil)
    #expect(try states(rig) == [.waiting, .waiting, .waiting, .waiting])
    rig.time.turn(by: .seconds(40))
    #expect(try await sender.pass(.warm).speedTests.sent == 4)
    #expect(try await accepted(rig) == [1, 1, 1, 1])
    try await rig.finish()
  }

  @Test("when fences meet trouble of the server, then speed tests are still sent")
  func besideFences() async throws {
    let rig = try await rig()
    try await test(rig)
    _ = try rig.record(tests: [try await rig.test(), try await rig.test()])
    try await rig.tool.setFault("500", on: "coverageResult", count: 2)
    let report = try await rig.sender().pass(.warm)
    #expect(report.speedTests.sent == 1 && report.sessionsKept == 2 && report.wasEndedByServer)
    #expect(try await rig.sender().pass(.warm).sessionsSent == 2)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }

  @Test("when a test belongs to another control server, then it is not sent to this one")
  func elsewhere() async throws {
    let rig = try await rig()
    let id = try await rig.store.speedTests.begin(
      .init(controlServer: "http://other", clientUUID: "C", testUUID: "T", token: "t", started: .rigStart))
    try await rig.store.speedTests.end(id, .init(.completed, at: .rigStart, figures: .sample()))
    #expect(try await rig.sender().pass(.warm).speedTests == SpeedTestTally())
    #expect(try states(rig) == [.waiting])
    try await rig.finish()
  }

  @Test(
    "when a pass is cancelled before the QoS request leaves, then the QoS results wait, and the next pass sends them"
  )
  func cancelledBefore() async throws {
    let rig = try await rig()
    let spy = ServerSpy { step, count in
      // The result arrives; the report of the QoS tests is cancelled.
      guard step == .result, count == 1 else { return }
      withUnsafeCurrentTask { $0?.cancel() }
      throw ServerFailure.unreachable("http://spy: stopped before it was sent")
    }
    let id = try await rig.store.speedTests.begin(
      .init(controlServer: spy.url, clientUUID: "C", testUUID: "T", token: "t", started: .rigStart))
    try await rig.store.speedTests.end(id, .init(.completed, at: .rigStart, figures: .sample()))
    try await rig.store.speedTests.add(qos: "[]", to: id)
    @Sendable func sender() throws -> Sender {
      try Sender(
        store: rig.store, serving: spy, settings: SenderSettings(), clock: rig.time.clock,
        timekeeper: try Timekeeper(
          store: rig.store, latestDate: { nil }, clock: rig.time.clock, logger: rig.lines.logger),
        logger: rig.lines.logger)
    }
    let cancelled = Task { try await sender().pass(.warm) }
    #expect(try await cancelled.value.wasStopped)
    let stored = try #require(try StoreReader(rig.store).speedTests().first)
    #expect(stored.state == .submitted && stored.qosState == .waiting)
    _ = try await sender().pass(.warm)
    #expect(try StoreReader(rig.store).speedTests().first?.qosState == .submitted)
    #expect(spy.requests.count { $0 == .result } == 3)
    try await rig.finish()
  }

  @Test("when the answer to a QoS report was lost, then only a forced command sends it again")
  func doubtfulQoS() async throws {
    let rig = try await rig()
    let id = try await test(rig)
    try await rig.store.speedTests.add(qos: "[]", to: id)
    try await rig.store.speedTests.markSubmitted(id, .result, at: .rigStart)
    try await rig.store.speedTests.beginSending(id, .qos, at: .rigStart)
    for mode in [PassMode.warm, .quarantined] {
      let tally = try await rig.sender().pass(mode).speedTests
      #expect((tally.qosQuarantined, tally.quarantined) == (1, 0), "the result is not refused")
      #expect(try StoreReader(rig.store).speedTests().first?.qosState == .quarantined)
      #expect(try await rig.requests("resultQoS") == 0)
    }
    let forced = try await rig.sender().pass(.quarantined, urgency: .forced).speedTests
    #expect((forced.qosSent, forced.sent, forced.left) == (1, 0, 0))
    #expect(try await rig.requests("resultQoS") == 1)
    try await rig.finish()
  }

  @Test(
    "when the result of a test arrives and its QoS report does not, then the test counts as sent, and its report as kept",
    arguments: ["500", "429-retry-after:600"])
  func keptQoS(fault: String) async throws {
    let rig = try await rig()
    let id = try await test(rig)
    try await rig.store.speedTests.add(qos: "[]", to: id)
    try await rig.tool.setFault(fault, on: "resultQoS", count: 1)
    let tally = try await rig.sender().pass(.warm).speedTests
    #expect((tally.sent, tally.kept, tally.qosKept, tally.left) == (1, 0, 1, 1))
    try await rig.finish()
  }

  @Test("when the breaker is open, then no request for a speed test leaves")
  func gated() async throws {
    let rig = try await rig()
    let sender = try rig.sender()
    _ = try await rig.clientUUID()
    try await rig.tool.setFault("429", on: "testRequest", count: 3)
    for _ in 0..<3 {
      await #expect(throws: ServerFailure.self) {
        try await sender.tests.requestSpeedTest { SpeedTestRequest(clientUUID: $0, time: .rigStart) }
      }
    }
    let before = try await rig.requests("testRequest")
    await #expect(throws: ServerGate.Hold.self) {
      try await sender.tests.requestSpeedTest { SpeedTestRequest(clientUUID: $0, time: .rigStart) }
    }
    #expect(try await rig.requests("testRequest") == before)
    try await rig.finish()
  }
}
