import Coverage
import Foundation
import Pinging
import Positioning
import Settings
import Submission
import TestSupport
import Testing

@testable import coverage_probe

/// The examinations of the control server and of the pings, with the real tools for both.
struct PeerExaminationSlowTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration(_ url: String) -> ProbeConfiguration {
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = folder.file("state")
    configuration.controlServer.url = url
    configuration.controlServer.requestTimeout = .seconds(5)
    return configuration
  }

  private func ask(_ url: String, wall: @Sendable () -> WallTime = { now }) async -> ServerExamination.Answers {
    await ServerExamination.ask(configuration(url), .sample, by: [Self.link()], gate: { _ in nil }, wall: wall)
  }

  private static func link(_ name: String? = nil, by interface: String? = nil) -> LinkSettings {
    LinkSettings(name: name, interface: interface, network: .auto, radio: .none)
  }

  private static var now: WallTime {
    WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
  }

  // MARK: Control server

  @Test("when the control server grants a test, then its answer, its clock and the ping server are good findings")
  func granted() async throws {
    let server = try await ControlServerTool(["--ping-port", "4711"])
    let answers = await ask(server.url)
    let grant = try #require(try answers.tests.first?.answer.get())
    #expect(grant.pingHost == "127.0.0.1" && grant.pingPort == 4711)
    let findings = ServerExamination.findings(answers, configuration(server.url))
    #expect(findings.map(\.grade) == [.good, .good, .good], "\(findings)")
    #expect(findings.last?.text == "it grants tests; pings go to 127.0.0.1, port 4711")
    #expect(try await server.requests(to: "/coverageResult").isEmpty, "doctor sends no fences")
  }

  @Test("when the host's clock is an hour ahead or behind, then the line says which", arguments: [3600, -3600])
  func otherClock(seconds: Int) async throws {
    let server = try await ControlServerTool()
    let answers = await ask(server.url) { Self.now.adding(.seconds(seconds)) }
    let words = ServerExamination.findings(answers, configuration(server.url)).first { $0.grade == .warning }?.text
    #expect(words?.hasSuffix(seconds > 0 ? "ahead of the control server's" : "behind the control server's") == true)
    let number = words?.split(separator: " ").compactMap { Int($0) }.first
    #expect(abs((number ?? 0) - 3600) <= 3, "\(words ?? "no warning")")
  }

  @Test(
    "when the server answers wrongly, then the finding is a fault with a remedy",
    arguments: [
      ("settings:503", "later"), ("settings:403", "operator"), ("settings:html", "portal"),
      ("settings:404", "control-server.url"),
      ("settings:redirect:http://127.0.0.1:9/", "portal"), ("settings:reset", "network"),
      ("settings:error", "operator"),
      ("settings:429-retry-after:30", "wait"),
    ])
  func refusedRegistration(fault: String, remedy: String) async throws {
    let server = try await ControlServerTool(["--fault", fault])
    let answers = await ask(server.url)
    let findings = ServerExamination.findings(answers, configuration(server.url))
    #expect(findings.map(\.grade) == [.fault], "\(findings)")
    #expect(findings.first?.advice?.contains(remedy) == true, "\(findings)")
    #expect(try await server.requests(to: "/coverageRequest").isEmpty)
  }

  @Test("when only the test is refused, then the server's answer is good and the test is the fault")
  func refusedTest() async throws {
    let server = try await ControlServerTool(["--fault", "coverageRequest:error"])
    let answers = await ask(server.url)
    let findings = ServerExamination.findings(answers, configuration(server.url))
    #expect(findings.filter { $0.grade == .fault }.count == 1)
    #expect(findings.last?.text.hasPrefix("no test: ") == true)
  }

  @Test("when a drive has two links, then a test is requested by each, and each has its own pings")
  func twoLinks() async throws {
    let reflector = try await ReflectorTool()
    let server = try await ControlServerTool(["--ping-port", "\(reflector.port)"])
    let links = [Self.link("A", by: "lo"), Self.link("B", by: "lo")]
    let answers = await ServerExamination.ask(
      configuration(server.url), .sample, by: links, gate: { _ in nil }, wall: { Self.now })
    let grants = try answers.tests.map { try $0.answer.get() }
    #expect(Set(grants.map(\.testUUID)).count == 2 && answers.tests.map(\.link) == links)
    let findings = ServerExamination.findings(answers, configuration(server.url))
    #expect(findings.suffix(2).map { $0.text.prefix(8) } == ["link A: ", "link B: "])
    for (link, grant) in zip(links, grants) {
      #expect(await PingExamination.ping(grant, by: link, family: nil).answers.count == 10)
    }
  }

  @Test("when no link would be measured, then the device registers and no test is requested")
  func noLink() async throws {
    let server = try await ControlServerTool()
    let answers = await ServerExamination.ask(
      configuration(server.url), .sample, by: [], gate: { _ in nil }, wall: { Self.now })
    #expect(answers.tests.isEmpty && answers.registration != nil)
    #expect(try await server.requests(to: "/coverageRequest").isEmpty)
  }

  @Test("when a wait begins between the two requests, then no test is requested")
  func holdBetweenRequests() async throws {
    let server = try await ControlServerTool()
    var questions = 0
    let answers = await ServerExamination.ask(
      configuration(server.url), .sample, by: [Self.link()],
      gate: { _ in
        questions += 1
        return questions > 1 ? .breaker(.seconds(30)) : nil
      }
    ) { Self.now }
    #expect(answers.hold == .breaker(.seconds(30)) && answers.registration != nil && answers.tests.isEmpty)
    let findings = ServerExamination.findings(answers, configuration(server.url))
    #expect(findings.map(\.grade) == [.good, .good, .warning], "\(findings)")
    #expect(try await server.requests(to: "/coverageRequest").isEmpty)
  }

  // MARK: Pings

  private func grant(port: UInt16, secret: String = ReflectorTool.secret, host: String = "127.0.0.1") async throws
    -> CoverageGrant
  {
    let server = try await ControlServerTool(["--ping-port", "\(port)", "--secret", secret, "--ping-host", host])
    return try #require(try await ask(server.url).tests.first?.answer.get())
  }

  private func ping(_ grant: CoverageGrant, by interface: String? = nil) async -> PingExamination.Pings {
    await PingExamination.ping(grant, by: Self.link(by: interface), family: nil)
  }

  @Test("when the ping server answers, then all ten pings are counted, and stamped by the kernel on loopback")
  func answered() async throws {
    let reflector = try await ReflectorTool()
    let pings = await ping(try await grant(port: reflector.port), by: "lo")
    #expect(pings.answers.count == 10 && pings.lost == 0 && pings.trouble == nil)
    let findings = PingExamination.findings(pings, link: nil)
    #expect(findings.map(\.grade) == [.good, .good], "\(findings)")
    #expect(findings[0].text.hasPrefix("pings to 127.0.0.1, port \(reflector.port): 10 of 10 answered, median "))
  }

  @Test("when the ping server refuses the token, then the finding is about the token, and no answer counts")
  func refusedToken() async throws {
    let reflector = try await ReflectorTool(["--secret", ReflectorTool.secret, "--force-re01", "100"])
    let pings = await ping(try await grant(port: reflector.port))
    #expect(pings.refused > 0 && pings.answers.isEmpty)
    #expect(PingExamination.findings(pings, link: nil).map(\.grade) == [.fault])
  }

  @Test("when the ping server's port is closed, then the finding is a drive's, and the advice names its operator")
  func closedPort() async throws {
    let pings = await ping(try await grant(port: 9))
    #expect(pings.answers.isEmpty && pings.lost == 0)
    let findings = PingExamination.findings(pings, link: "A")
    #expect(findings.map(\.grade) == [.fault])
    #expect(findings[0].text.hasSuffix(" are not sent: nothing listens at the ping server's port"), "\(findings)")
    #expect(findings[0].advice?.contains("operator") == true)
  }

  @Test("when the ping server's name has no address, or the interface is missing, then the line has the reason")
  func unreachable() async throws {
    let nameless = await ping(try await grant(port: 4440, host: "nowhere.invalid"))
    #expect(PingExamination.findings(nameless, link: nil).first?.text.contains("nowhere.invalid") == true)
    let unplugged = await ping(try await grant(port: 4440), by: "nix0")
    let finding = try #require(PingExamination.findings(unplugged, link: nil).first)
    #expect(finding.grade == .fault && finding.text.contains("nix0"), "\(finding)")
  }

  @Test("when the ping server loses some pings, then the finding is a warning with the number of answers")
  func losses() async throws {
    let reflector = try await ReflectorTool(["--secret", ReflectorTool.secret, "--drop", "40", "--seed", "3"])
    let pings = await ping(try await grant(port: reflector.port))
    #expect(pings.answers.count + pings.lost == 10 && pings.lost > 0 && !pings.answers.isEmpty)
    let finding = try #require(PingExamination.findings(pings, link: nil).first)
    #expect(finding.grade == .warning && finding.text.contains("\(pings.answers.count) of 10 answered"))
  }

  // MARK: All of it

  @Test("when everything works, then every subject has a finding, and no finding is a fault")
  func everything() async throws {
    let reflector = try await ReflectorTool()
    let server = try await ControlServerTool(["--ping-port", "\(reflector.port)"])
    let track = try folder.write(
      (0..<60).map { "\($0),48.2082,16.3738,10.0,0.0,200.0,4.0\n" }.joined(), to: "track.csv")
    let gps = try await GPSPlayerTool(["--gpsd", "--speed", "20", track])
    let reading = ConfigurationReading(
      file: nil,
      environment: [
        "COVERAGE_PROBE_STATE_DIRECTORY": folder.file("state"), "COVERAGE_PROBE_CONTROL_SERVER_URL": server.url,
        "COVERAGE_PROBE_GPSD_PORT": "\(gps.port)",
      ])
    let doctor = Doctor(
      reading: reading, device: .sample,
      wall: { Self.now }, clock: SenderClock(wall: { Self.now }, boot: { .seconds(1) }, bootID: "boot"))
    var findings: [Finding] = []
    await doctor.run { findings.append($0) }
    #expect(Set(findings.map(\.subject)) == Set(Finding.Subject.allCases))
    #expect(findings.filter { $0.grade == .fault }.isEmpty, "\(findings.filter { $0.grade == .fault })")
  }
}
