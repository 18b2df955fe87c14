import Coverage
import Foundation
import Logging
import Networking
import TestSupport

@testable import Store
@testable import Submission

/// A control server whose answers come from the test: no process, no socket.
final class ServerSpy: ControlServing {
  /// Runs while a request is under way; it throws the failure of the request.
  typealias Answer = @Sendable (_ step: RequestStep, _ count: Int) async throws -> Void

  let url = "http://spy/RMBTControlServer"
  private let lock = NSLock()
  private nonisolated(unsafe) var steps: [RequestStep] = []
  private nonisolated(unsafe) var ways: [FetchRequest.Connection] = []
  private let answer: Answer

  /// - Parameter answer: Its `count` is the number of earlier requests of this step.
  init(_ answer: @escaping Answer = { _, _ in }) { self.answer = answer }

  /// The requests that have left, in their order.
  var requests: [RequestStep] { lock.withLock { steps } }

  /// The connections of the registrations, in their order.
  var registrations: [FetchRequest.Connection] { lock.withLock { ways } }

  let device = Device(
    model: "", device: "", osVersion: "", language: "", timezone: "", softwareVersion: "", softwareVersionCode: 0,
    softwareRevision: "")

  func requestSpeedTest(_ request: SpeedTestRequest, by way: FetchRequest.Connection) async throws -> SpeedTestAnswer {
    let number = try await self.request(.result)
    return try SpeedTestAnswer(
      Data(
        #"{"test_uuid":"S\#(number)","test_token":"a_1_b","test_server_address":"127.0.0.1","test_server_port":1}"#.utf8
      ))
  }

  func settings(clientUUID: String?, by way: FetchRequest.Connection) async throws -> String {
    lock.withLock { ways.append(way) }
    let number = try await request(.settings)
    return clientUUID ?? "client \(number)"
  }

  func requestCoverage(_ request: CoverageRequest, by way: FetchRequest.Connection) async throws -> CoverageGrant {
    let number = try await self.request(.coverageRequest)
    let token = Data(repeating: 7, count: 16).base64EncodedString()
    return try CoverageGrant(
      Data(#"{"test_uuid":"T\#(number)","ping_token":"\#(token)","ping_host":"127.0.0.1","ping_port":444}"#.utf8))
  }

  func requestQoS(_ request: SpeedTestRequest) async throws -> Data {
    try await self.request(.result)
    return Data("{}".utf8)
  }

  func submit(_ result: PreparedResult) async throws {
    try await request(result.path == "coverageResult" ? .coverageResult : .result)
  }

  func history(clientUUID: String, offset: Int, limit: Int) async throws -> HistoryPage {
    try await request(.history)
    return HistoryPage(entries: 0, items: [])
  }

  @discardableResult
  private func request(_ step: RequestStep) async throws -> Int {
    let before = lock.withLock {
      steps.append(step)
      return steps.count { $0 == step } - 1
    }
    try await answer(step, before)
    return before
  }
}

/// A store, a spy for a server, and the gate between them.
struct GateRig {
  let folder: TemporaryFolder
  let store: DriveStore
  let spy: ServerSpy
  let time = TurnedClock()
  let lines = LogLines()
  let server: GatedServer
  let registration: Registration
  let tests: TestRequester

  init(policy: ServerGate.Policy = ServerGate.Policy(), _ answer: @escaping ServerSpy.Answer = { _, _ in }) throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    spy = ServerSpy(answer)
    server = GatedServer(
      spy, gate: ServerGate(policy: policy), store: store, clock: time.clock,
      timekeeper: try Timekeeper(store: store, latestDate: { nil }, clock: time.clock, logger: lines.logger),
      logger: lines.logger)
    registration = Registration(store: store, server: server, logger: lines.logger)
    tests = TestRequester(server: server, registration: registration, logger: lines.logger)
  }

  /// A sender that begins now, with a gate of its own.
  func sender() throws -> Sender {
    try Sender(
      store: store, serving: spy, settings: SenderSettings(), clock: time.clock,
      timekeeper: try Timekeeper(store: store, latestDate: { nil }, clock: time.clock, logger: lines.logger),
      logger: lines.logger)
  }

  func requestTest(by interface: String? = nil) async throws -> CoverageGrant {
    try await tests.requestTest(loopUUID: nil, at: .rigStart, by: interface)
  }

  /// The gate as the next process finds it.
  func storedGate(policy: ServerGate.Policy = ServerGate.Policy()) throws -> ServerGate {
    try ServerGate.stored(in: StoreReader(store), server: spy.url, policy: policy, clock: time.clock)
  }
}
