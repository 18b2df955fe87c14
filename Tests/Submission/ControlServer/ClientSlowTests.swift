import Coverage
import Foundation
import TestSupport
import Testing

@testable import Submission

/// The client against the real control server tool.
struct ClientSlowTests {
  private let device = Device(
    model: "test", device: "test", osVersion: "1", language: "en", timezone: "Etc/UTC", softwareVersion: "1.0",
    softwareVersionCode: 1, softwareRevision: "test")

  func withClient<Value>(
    of url: String, caFile: String? = nil, timeout: Duration = .seconds(60),
    _ body: (ControlServerClient) async throws -> Value
  ) async throws -> Value {
    try await body(ControlServerClient(url: url, caFile: caFile, requestTimeout: timeout, device: device))
  }

  func request(_ client: ControlServerClient, loop: String? = nil) async throws -> (String, CoverageGrant) {
    let uuid = try await client.settings(clientUUID: nil)
    let request = CoverageRequest(clientUUID: uuid, loopUUID: loop, time: .sampleStart)
    return (uuid, try await client.requestCoverage(request))
  }

  @Test("when the server works, then the device registers, gets a test and submits its fences")
  func wholeWay() async throws {
    let tool = try await ControlServerTool()
    try await withClient(of: tool.url) { client in
      let (uuid, grant) = try await request(client)
      #expect(try await client.settings(clientUUID: uuid) == uuid, "a known device keeps its UUID")
      try await client.submit(
        client.device.prepare(
          CoverageResult(
            clientUUID: uuid, testUUID: grant.testUUID, driveStarted: .sampleStart, anchor: .start,
            fences: [.sample(), .sample(number: 1, entered: 14, technology: nil)])))
      let fences = try await tool.fences()
      #expect(fences.map { $0.integer("offset_ms") } == [10_000, 14_000])
      #expect(fences.allSatisfy { $0.test == grant.testUUID })
    }
    try await tool.program.stop()
  }

  @Test("when the same session is sent twice, then the server refuses the second one")
  func twice() async throws {
    let tool = try await ControlServerTool()
    try await withClient(of: tool.url) { client in
      let (uuid, grant) = try await request(client)
      let result = client.device.prepare(
        CoverageResult(
          clientUUID: uuid, testUUID: grant.testUUID, driveStarted: .sampleStart, anchor: .start, fences: [.sample()]))
      try await client.submit(result)
      let failure = await #expect(throws: ServerFailure.self) { try await client.submit(result) }
      guard case .refused(400, let message) = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(message.contains("No started test found"))
    }
    try await tool.program.stop()
  }

  @Test(
    "when the server misbehaves, then no answer counts as success",
    arguments: ["429", "429-retry-after:30", "500", "503", "empty", "html", "error", "reset", "hang:30", "drop-answer"])
  func faults(fault: String) async throws {
    let tool = try await ControlServerTool()
    try await tool.setFault(fault, on: "coverageResult")
    let patience: Duration = fault.hasPrefix("hang") ? .seconds(2) : .seconds(30)
    try await withClient(of: tool.url, timeout: patience) { client in
      let (uuid, grant) = try await request(client)
      let result = client.device.prepare(
        CoverageResult(
          clientUUID: uuid, testUUID: grant.testUUID, driveStarted: .sampleStart, anchor: .start, fences: [.sample()]))
      let failure = await #expect(throws: ServerFailure.self) { try await client.submit(result) }
      let line = try #require(failure.map { "\($0)" })
      #expect(!line.contains("\n"))
      switch (fault, failure) {
      case ("429", .tooManyRequests(retryAfter: nil)),
        ("429-retry-after:30", .tooManyRequests(retryAfter: .seconds(30))),
        ("500", .serverTrouble(status: 500, _, _)), ("503", .serverTrouble(status: 503, _, _)),
        ("empty", .notTheServer),
        ("html", .notTheServer), ("error", .refused(status: 200, _)), ("reset", .noAnswer), ("hang:30", .noAnswer),
        ("drop-answer", .noAnswer):
        break
      default: Issue.record("\(fault) gives \(line)")
      }
    }
    try await tool.program.stop()
  }

  @Test(
    "when the port is closed, or the name does not exist, then one line gives the reason",
    arguments: [
      ("http://127.0.0.1:1/x", "Connection refused"), ("http://me:secret@127.0.0.1:1/x", "Connection refused"),
      ("http://no-such-host.invalid/x", "the name no-such-host.invalid cannot be resolved"),
    ])
  func closedPort(url: String, reason: String) async throws {
    try await withClient(of: url) { client in
      let failure = await #expect(throws: ServerFailure.self) { try await client.settings(clientUUID: nil) }
      let line = "\(try #require(failure))"
      #expect(line == "cannot reach the control server \(url.replacing("me:secret@", with: "")): \(reason)")
    }
  }

  @Test(
    "when the port is closed, then nothing was sent; when the connection is reset, then the request may have arrived")
  func sentOrNot() async throws {
    try await withClient(of: "http://127.0.0.1:1/x") { client in
      let failure = await #expect(throws: ServerFailure.self) { try await client.settings(clientUUID: nil) }
      guard case .unreachable = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    let tool = try await ControlServerTool()
    try await tool.setFault("reset", on: "settings")
    try await withClient(of: tool.url) { client in
      let failure = await #expect(throws: ServerFailure.self) { try await client.settings(clientUUID: nil) }
      guard case .noAnswer = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    try await tool.program.stop()
  }

  @Test("when the history is read, then it lists the tests with fences and their counts, newest first")
  func history() async throws {
    let tool = try await ControlServerTool()
    try await withClient(of: tool.url) { client in
      let uuid = try await client.settings(clientUUID: nil)
      var tests: [String] = []
      for second in 0..<3 {
        let time = WallTime(microseconds: WallTime.sampleStart.microseconds + Int64(second) * 1_000_000)
        let grant = try await client.requestCoverage(CoverageRequest(clientUUID: uuid, loopUUID: nil, time: time))
        tests.append(grant.testUUID)
        guard second != 1 else { continue }
        let fences = (0...second).map { Fence.sample(number: $0, entered: Double($0) * 4) }
        try await client.submit(
          client.device.prepare(
            CoverageResult(
              clientUUID: uuid, testUUID: grant.testUUID, driveStarted: .sampleStart, anchor: .start, fences: fences)))
      }
      let start = WallTime.sampleStart.milliseconds
      let all = try await client.history(clientUUID: uuid, offset: 0, limit: 100).items
      #expect(
        all == [
          HistoryItem(testUUID: tests[2], time: start + 2000, fences: 3),
          HistoryItem(testUUID: tests[0], time: start, fences: 1),
        ])
      #expect(
        try await client.history(clientUUID: uuid, offset: 1, limit: 100) == HistoryPage(entries: 1, items: [all[1]]))
      #expect(
        try await client.history(clientUUID: uuid, offset: 0, limit: 1) == HistoryPage(entries: 1, items: [all[0]]))
      await #expect(throws: ServerFailure.self) {
        try await client.history(clientUUID: UUID().uuidString, offset: 0, limit: 1)
      }
    }
    try await tool.program.stop()
  }

  @Test("when tests are requested, then each test for pings uses a new connection, and the others share a kept one")
  func connections() async throws {
    let tool = try await ControlServerTool()
    try await withClient(of: tool.url) { client in
      let uuid = try await client.settings(clientUUID: nil)
      let request = CoverageRequest(clientUUID: uuid, loopUUID: nil, time: .sampleStart)
      for _ in 0..<2 { _ = try await client.requestCoverage(request) }
      for _ in 0..<2 { _ = try await client.requestCoverage(request, by: .fresh()) }
    }
    let ports = try await tool.requests(to: "coverageRequest").compactMap { $0["port"] as? Int }
    try #require(ports.count == 4)
    #expect(ports[0] == ports[1])
    #expect(Set(ports).count == 3, "\(ports)")
    try await tool.program.stop()
  }

  // MARK: Interfaces

  @Test("when a request is bound to an interface, then it leaves by that interface, or fails with the reason")
  func interface() async throws {
    let tool = try await ControlServerTool()
    let uuid = try await withClient(of: tool.url) { try await $0.settings(clientUUID: nil) }
    let request = CoverageRequest(clientUUID: uuid, loopUUID: nil, time: .sampleStart)
    let grant = try await withClient(of: tool.url) {
      try await $0.requestCoverage(request, by: .fresh(interface: "lo"))
    }
    #expect(!grant.testUUID.isEmpty)
    let absent = await #expect(throws: ServerFailure.self) {
      try await withClient(of: tool.url) { try await $0.requestCoverage(request, by: .fresh(interface: "none0")) }
    }
    #expect("\(try #require(absent))".contains("cannot use interface none0: No such device"))
    try await tool.setFault("hang:30", on: "coverageRequest")
    let slow = await #expect(throws: ServerFailure.self) {
      try await withClient(of: tool.url, timeout: .milliseconds(300)) {
        try await $0.requestCoverage(request, by: .fresh(interface: "lo"))
      }
    }
    #expect("\(try #require(slow))".contains("no answer within"))
    try await tool.program.stop()
  }

  @Test(
    "when a request is bound to an address family, then it uses that family, and the test is for that family",
    arguments: [4, 6])
  func family(version: Int) async throws {
    let tool = try await ControlServerTool(["--host", version == 4 ? "127.0.0.1" : "::1"])
    let uuid = try await withClient(of: tool.url) { try await $0.settings(clientUUID: nil) }
    let request = CoverageRequest(clientUUID: uuid, loopUUID: nil, time: .sampleStart)
    let family = try #require(IPVersion(rawValue: version))
    let url = version == 4 ? tool.url.replacing("127.0.0.1", with: "localhost") : tool.url
    let grant = try await withClient(of: url) { try await $0.requestCoverage(request, by: .fresh(version: family)) }
    #expect(grant.ipVersion == family)
    let bound = try await withClient(of: url) {
      try await $0.requestCoverage(request, by: .fresh(interface: "lo", version: family))
    }
    #expect(bound.ipVersion == family)

    let other = family.other
    let failure = await #expect(throws: ServerFailure.self) {
      try await withClient(of: tool.url) { try await $0.requestCoverage(request, by: .fresh(version: other)) }
    }
    guard case .unreachable(let text, _, _)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    let host = version == 4 ? "127.0.0.1" : "::1"
    let words = "\(host) cannot be resolved to an \(other) address, and pings.ip-version is \(other.rawValue)"
    #expect(text.hasSuffix(words), "\(text)")
    try await tool.program.stop()
  }

  // MARK: TLS

  @Test(
    "when the server's certificate comes from the CA file, then it is trusted only with that file",
    .enabled(if: Surroundings.program("openssl") != nil, "openssl is not installed"))
  func certificateAuthority() async throws {
    let folder = try TemporaryFolder()
    let openssl = try #require(Surroundings.program("openssl"))
    let (key, certificate) = (folder.file("key.pem"), folder.file("certificate.pem"))
    let making = try RunningProgram(
      openssl,
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
        certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
      ])
    try #require(try await making.exitStatus() == 0, "\(making.standardError)")
    let tool = try await ControlServerTool(["--certificate", certificate, "--key", key])
    try #require(tool.url.hasPrefix("https://"))

    let uuid = try await withClient(of: tool.url, caFile: certificate) { try await $0.settings(clientUUID: nil) }
    #expect(!uuid.isEmpty)
    let request = CoverageRequest(clientUUID: uuid, loopUUID: nil, time: .sampleStart)
    let grant = try await withClient(of: tool.url, caFile: certificate) {
      try await $0.requestCoverage(request, by: .fresh(interface: "lo"))
    }
    #expect(!grant.testUUID.isEmpty, "a request that is bound to an interface trusts the same certificates")
    let stranger = await #expect(throws: ServerFailure.self) {
      try await withClient(of: tool.url) { try await $0.requestCoverage(request, by: .fresh(interface: "lo")) }
    }
    #expect("\(try #require(stranger))".contains("its certificate is not trusted"))
    let strange = await #expect(throws: ServerFailure.self) {
      try await withClient(of: tool.url) { try await $0.settings(clientUUID: nil) }
    }
    let reason = "its certificate is not trusted: neither the system nor control-server.ca-file knows"
    #expect("\(try #require(strange))".contains(reason))
    try await tool.program.stop()
  }

  /// A self-signed certificate for `name`, made with OpenSSL's `ca`, its only command that takes dates.
  private func certificate(
    for name: String, from start: String, to end: String, in folder: TemporaryFolder
  ) async throws -> (key: String, certificate: String) {
    let openssl = try #require(Surroundings.program("openssl"))
    let (key, request) = (folder.file("key.pem"), folder.file("request.pem"))
    let certificate = folder.file("certificate.pem")
    _ = try folder.write("", to: "index")
    let settings = try folder.write(
      """
      [ca]
      default_ca = self
      [self]
      database = \(folder.file("index"))
      new_certs_dir = \(folder.path)
      default_md = sha256
      rand_serial = yes
      policy = any
      x509_extensions = names
      [any]
      commonName = supplied
      [names]
      subjectAltName = \(name)
      """, to: "ca.cnf")
    for arguments in [
      [
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request,
        "-subj", "/CN=test",
      ],
      [
        "ca", "-batch", "-notext", "-config", settings, "-selfsign", "-keyfile", key, "-in", request,
        "-out", certificate, "-startdate", start, "-enddate", end,
      ],
    ] {
      let making = try RunningProgram(openssl, arguments)
      try #require(try await making.exitStatus() == 0, "\(making.standardError)")
    }
    return (key, certificate)
  }

  @Test(
    "when a certificate has expired, is not valid yet, or is for another name, then the line names the cause",
    .enabled(if: Surroundings.program("openssl") != nil, "openssl is not installed"),
    arguments: [
      (
        "IP:127.0.0.1", "20200101000000Z", "20200201000000Z",
        "its certificate expired on 2020-02-01T00:00:00Z; this"
      ),
      (
        "IP:127.0.0.1", "20900101000000Z", "20910201000000Z",
        "its certificate is not valid before 2090-01-01T00:00:00Z"
      ),
      ("DNS:elsewhere", "20200101000000Z", "20900201000000Z", "its certificate is for another name than the one in"),
    ])
  func badCertificate(name: String, start: String, end: String, expected: String) async throws {
    let folder = try TemporaryFolder()
    let (key, certificate) = try await certificate(for: name, from: start, to: end, in: folder)
    let tool = try await ControlServerTool(["--certificate", certificate, "--key", key])
    let failure = await #expect(throws: ServerFailure.self) {
      try await withClient(of: tool.url.replacing("localhost", with: "127.0.0.1"), caFile: certificate) {
        try await $0.settings(clientUUID: nil)
      }
    }
    let line = "\(try #require(failure))"
    #expect(line.contains(expected), "\(line)")
    guard case .unreachable = failure else {
      Issue.record("the failure is not unreachable: \(line)")
      return
    }
    try await tool.program.stop()
  }

  @Test("when HTTPS meets a server that speaks HTTP, then the line reports it")
  func plainServer() async throws {
    let tool = try await ControlServerTool()
    let failure = await #expect(throws: ServerFailure.self) {
      try await withClient(of: tool.url.replacing("http://", with: "https://")) {
        try await $0.settings(clientUUID: nil)
      }
    }
    #expect("\(try #require(failure))".contains("it does not speak TLS there"))
    try await tool.program.stop()
  }

  @Test("when the CA file holds no certificates, then one line names the file")
  func badCAFile() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("nonsense", to: "ca.pem")
    let error = #expect(throws: CAFileError.self) {
      try ControlServerClient(url: "https://localhost", caFile: file, requestTimeout: .seconds(1), device: device)
    }
    #expect("\(try #require(error))".contains(file))
  }
}
