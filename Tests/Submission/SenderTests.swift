import ControlServer
import Coverage
import DriveStore
import Foundation
import Logging
import TestSupport
import Testing

@testable import Submission

/// The sender with a real store and the real control server tool.
struct SenderTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private let tool: ControlServerTool
  private let client: ControlServerClient

  init() async throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    tool = try await ControlServerTool()
    client = try ControlServerClient(
      url: tool.url, caFile: nil, requestTimeout: .seconds(5),
      device: Device(
        model: "test", device: "test", osVersion: "1", language: "en", timezone: "Etc/UTC", softwareVersion: "1.0",
        softwareVersionCode: 1, softwareRevision: "test"))
  }

  private var registration: Registration { Registration(store: store, server: client) }

  private var sender: Sender {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return Sender(store: store, server: client, registration: registration, logger: logger) {
      WallTime(microseconds: WallTime.sampleStart.microseconds + 3_600_000_000)
    }
  }

  /// Records a drive whose sessions have these tests; a session has two fences.
  private func record(tests: [String?], submittable: Bool = true) throws -> Int64 {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    for (number, test) in tests.enumerated() {
      let start = Double(number) * 100
      try recorder.save(
        sessions: [
          Session(
            number: number, testUUID: test, started: .seconds(start), anchor: test.map { _ in .seconds(start + 1) },
            finalized: .seconds(start + 100))
        ],
        fences: [0, 1].map {
          .sample(number: number * 2 + $0, session: number, entered: start + Double($0) * 4, isSubmittable: submittable)
        },
        seen: .seconds(start + 100))
    }
    return recorder.drive
  }

  private func test() async throws -> String {
    let request = CoverageRequest(
      clientUUID: try await registration.clientUUID(), loopUUID: nil, time: .sampleStart)
    return try await client.requestCoverage(request).testUUID
  }

  private func finish() async throws {
    try await client.shutdown()
    try await tool.program.stop()
  }

  @Test("when a drive has ended, then its sessions are sent newest first, fences ascending, and marked")
  func wholeDrive() async throws {
    let tests = [try await test(), try await test()]
    let drive = try record(tests: tests)
    let report = try await sender.send(.drives([drive]))
    #expect(report.sessionsSent == 2)
    #expect(report.fencesSent == 4)
    let bodies = try await tool.requests(to: "coverageResult").compactMap { request in
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
    #expect(try StoreReader(store).sessions().allSatisfy { $0.state(isWriterAlive: true) == .submitted })
    #expect(try await sender.send(.cold) == Sender.Report(), "nothing is sent twice")
    try await finish()
  }

  @Test("when the server cannot take anything, then the pass ends, all is kept, and a later pass sends it")
  func outage() async throws {
    let drive = try record(tests: [try await test(), try await test()])
    try await tool.setFault("503", on: "coverageResult", count: 1)
    let report = try await sender.send(.drives([drive]))
    #expect(report.sessionsSent == 0)
    #expect(report.sessionsKept == 2)
    #expect(try await tool.requests(to: "coverageResult").count == 1, "one request is enough to know")
    let later = try await sender.send(.cold)
    #expect(later.sessionsSent == 2)
    #expect(try await tool.fences().count == 4)
    try await finish()
  }

  @Test("when the server refuses one session, then the others are sent all the same")
  func refusal() async throws {
    let good = try await test()
    let drive = try record(tests: [good, UUID().uuidString])
    let report = try await sender.send(.drives([drive]))
    #expect(report.sessionsSent == 1)
    #expect(report.sessionsKept == 0)
    #expect(report.sessionsQuarantined == 1)
    guard case .refused(400, _) = report.firstFailure else {
      Issue.record("\(String(describing: report.firstFailure))")
      return
    }
    #expect(try await tool.fences().map(\.test) == [good, good])
    let states = try StoreReader(store).sessions().map { $0.state(isWriterAlive: true) }
    #expect(states == [.submitted, .quarantined])
    #expect(try await sender.send(.cold) == Sender.Report(), "it is not sent again by itself")
    #expect(try await sender.send(.quarantined).sessionsQuarantined == 1, "but on command")
    try await finish()
  }

  @Test("when an answer is lost after the server took the session, then it is not there twice, and not sent for ever")
  func lostAnswer() async throws {
    let drive = try record(tests: [try await test()])
    try await tool.setFault("drop-answer", on: "coverageResult", count: 1)
    #expect(try await sender.send(.drives([drive])).sessionsKept == 1)
    #expect(try await sender.send(.cold).sessionsQuarantined == 1)
    #expect(try await sender.send(.cold) == Sender.Report())
    #expect(try await tool.fences().count == 2)
    try await finish()
  }

  @Test("when the pass is cancelled while the server works, then what it has taken is marked all the same")
  func cancelled() async throws {
    let drive = try record(tests: [try await test()])
    let sender = sender
    try await tool.setFault("hang:30", on: "coverageResult", count: 1)
    let pass = Task { try await sender.send(.drives([drive])) }
    _ = try await eventually("the session is on its way") {
      try await tool.requests(to: "coverageResult").count == 1 ? true : nil
    }
    pass.cancel()
    let report = try await pass.value
    #expect(report.sessionsKept == 1)
    #expect("\(try #require(report.firstFailure))".contains("stopped before"))
    try await finish()
  }

  @Test("when a drive was never online, then it gets a test afterwards and its offsets lie before it")
  func lateAnchoring() async throws {
    let drive = try record(tests: [nil])
    let report = try await sender.send(.drives([drive]))
    #expect(report.sessionsSent == 1)
    #expect(try await tool.fences().map { $0.integer("offset_ms") } == [-3_600_000, -3_596_000])
    let stored = try #require(try StoreReader(store).sessions().first)
    #expect(stored.session.testUUID != nil)
    #expect(stored.session.anchor == .seconds(3600))
    try await finish()
  }

  @Test("when only fences exist that Wi-Fi touched, then nothing is sent")
  func wifiOnly() async throws {
    let drive = try record(tests: [try await test()], submittable: false)
    #expect(try await sender.send(.drives([drive])) == Sender.Report())
    #expect(try await tool.requests(to: "coverageResult").isEmpty)
    try await finish()
  }

  @Test("when a pass is warm, then it leaves sessions without a test alone")
  func warm() async throws {
    _ = try record(tests: [nil, try await test()])
    let report = try await sender.send(.warm)
    #expect(report.sessionsSent == 1)
    #expect(try await sender.send(.cold).sessionsSent == 1)
    try await finish()
  }

  @Test("when the device registers, then its name is kept for the next process")
  func registrationIsKept() async throws {
    let uuid = try await registration.clientUUID()
    #expect(try await registration.clientUUID() == uuid)
    #expect(try await store.clientUUID(at: tool.url) == uuid)
    try await finish()
  }
}
