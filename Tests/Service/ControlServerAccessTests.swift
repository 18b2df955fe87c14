import Coverage
import Settings
import Store
import Submission
import TestSupport
import Testing

@testable import Service

/// The checks before a command uses the control server, and the cleanup after it.
struct ControlServerAccessTests {

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration(_ url: String? = ServiceRig.nowhere, caFile: String? = nil) -> ProbeConfiguration {
    var configuration = ProbeConfiguration.sample(in: folder)
    (configuration.controlServer.url, configuration.controlServer.caFile) = (url, caFile)
    return configuration
  }

  private func access(_ configuration: ProbeConfiguration) async throws -> ControlServerClient {
    try ControlServerClient.configured(configuration, for: "without it there is no test")
  }

  @Test("when no control server is configured, then the error names the setting and why it is needed")
  func missing() async throws {
    let error = await #expect(throws: ConfigurationError.self) { try await access(configuration(nil)) }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("control-server.url") && text.contains("without it there is no test"), "\(text)")
  }

  @Test("when a target is configured, then a drive needs no control server, and each request to the missing one fails")
  func target() async throws {
    var configuration = configuration(nil)
    configuration.pings.target.host = "192.0.2.1"
    await #expect(throws: ConfigurationError.self) { try await access(configuration) }
    let client = try ControlServerClient.configured(configuration, for: "a test", unlessTarget: true)
    #expect(client.url.isEmpty)
    let failure = await #expect(throws: ServerFailure.self) { _ = try await client.settings(clientUUID: nil) }
    #expect("\(try #require(failure))" == "cannot reach the control server (control-server.url is not set)")
  }

  @Test("when the certificate file cannot be read or has no certificate, then the error names it before any connection")
  func certificates() async throws {
    let absent = folder.file("absent.pem")
    let error = await #expect(throws: InputFileError.self) { try await access(configuration(caFile: absent)) }
    #expect(error.map { "\($0)".contains(absent) } == true)
    let empty = try folder.write("no certificate\n", to: "empty.pem")
    let other = await #expect(throws: (any Error).self) {
      try await access(configuration("https://127.0.0.1:9/", caFile: empty))
    }
    #expect(other.map { "\($0)".contains(empty) } == true)
  }

  @Test("when settings of the sender are changed, then each reaches its own field")
  func sender() {
    var configuration = configuration()
    let second = { (count: Int) in Duration.seconds(count) }
    configuration.submission.maxAge = second(1)
    configuration.submission.keep = second(2)
    configuration.submission.legacyThreshold = second(3)
    configuration.submission.spread = second(4)
    configuration.submission.backoff = second(5)
    configuration.submission.backoffMax = second(6)
    configuration.submission.breakerThreshold = 7
    configuration.submission.breakerBackoff = second(8)
    configuration.submission.breakerBackoffMax = second(9)
    (configuration.storage.maxSize, configuration.storage.maxFences) = (10, 11)
    let settings = configuration.sender
    #expect([settings.retention.maxAge, settings.retention.keep, settings.legacyThreshold] == [1, 2, 3].map(second))
    #expect([settings.gate.spread, settings.gate.backoff, settings.gate.backoffMax] == [4, 5, 6].map(second))
    #expect(settings.gate.breaker == .init(threshold: 7, backoff: second(8), backoffMax: second(9)))
    #expect(settings.quota == Quota(bytes: 10, fences: 11))
  }
}
