import Coverage
import Foundation
import Settings
import Store
import TestSupport
import Testing

@testable import Submission
@testable import coverage_probe

/// `doctor` respects the waits that the service has stored for requests to the control server.
struct HoldTests {
  private static let url = "http://127.0.0.1:9/x"
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration() -> ProbeConfiguration {
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = folder.file("state")
    configuration.controlServer.url = Self.url
    return configuration
  }

  private func clock(at seconds: Int, boot: String = "this boot") -> SenderClock {
    SenderClock(wall: { .sampleStart }, boot: { .seconds(seconds) }, bootID: boot)
  }

  /// Stores the gate of a service that the server asked to wait for 100 s, at 1000 s after the boot.
  private func storeGate(_ failure: ServerFailure = .tooManyRequests(retryAfter: .seconds(100))) async throws {
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    var gate = ServerGate()
    guard case .leave(let call) = gate.ask(.commanded, at: .seconds(1000), random: 0) else { return }
    gate.heard(failure, at: .seconds(1000))
    gate.end(call, .failed(failure), at: .seconds(1000), random: 0)
    let memory = try JSONEncoder().encode(gate.memory(at: .seconds(1000), bootID: "this boot"))
    try await store.servers.setGateMemory(String(decoding: memory, as: UTF8.self), at: Self.url)
  }

  private func hold(at seconds: Int, boot: String = "this boot", server: String = url) -> ServerGate.Hold? {
    var environment = ["COVERAGE_PROBE_STATE_DIRECTORY": folder.file("state")]
    environment["COVERAGE_PROBE_CONTROL_SERVER_URL"] = Self.url
    let reading = ConfigurationReading(file: nil, environment: environment)
    return Doctor(
      reading: reading, device: .sample, wall: { .sampleStart },
      clock: clock(at: seconds, boot: boot)
    ).hold(at: server)
  }

  @Test("when the server asked the service to wait, then doctor waits as long, for that server only")
  func stored() async throws {
    #expect(hold(at: 1000) == nil, "there is no store")
    try await storeGate()
    #expect(hold(at: 1001)?.wait ?? .zero > .seconds(90))
    #expect(hold(at: 1001, server: "http://other/x") == nil)
    #expect(hold(at: 5000) == nil, "the wait has passed")
  }

  @Test("when the host was restarted, then the rest of the wait counts from the start")
  func otherBoot() async throws {
    try await storeGate()
    let rest = try #require(hold(at: 10, boot: "another boot")).wait
    #expect(rest > .seconds(80) && rest <= .seconds(400))
  }

  @Test("when requests have to wait, then no request is sent, and the finding has the time")
  func noRequest() async {
    let answers = await ServerExamination.ask(
      configuration(), .sample, by: [], gate: { _ in .retryAfter(.milliseconds(99_500)) }
    ) { .sampleStart }
    #expect(answers.hold == .retryAfter(.milliseconds(99_500)) && answers.registration == nil && answers.trouble == nil)
    let findings = ServerExamination.findings(answers, configuration())
    #expect(findings.map(\.grade) == [.warning])
    #expect(
      findings.first?.text
        == "the control server asked for a pause (Retry-After): no request is sent now, and a drive gets no test for 100 s"
    )
    #expect(findings.first?.advice?.contains("submit --force") == true)
  }

  @Test("when the gate is asked, then it gets the configured server's URL")
  func asked() async {
    var asked: [String] = []
    var none = configuration()
    none.controlServer.url = nil
    _ = await ServerExamination.ask(
      none, .sample, by: [],
      gate: {
        asked.append($0); return nil
      }
    ) { .sampleStart }
    #expect(asked.isEmpty, "without a URL there is no server")
    _ = await ServerExamination.ask(
      configuration(), .sample, by: [],
      gate: {
        asked.append($0); return .breaker(.seconds(1))
      }
    ) {
      .sampleStart
    }
    #expect(asked == [Self.url])
  }
}

extension Device {
  static let sample = Device(
    model: "m", device: "d", osVersion: "o", language: "en", timezone: "UTC", softwareVersion: "1",
    softwareVersionCode: 1, softwareRevision: "r")
}
