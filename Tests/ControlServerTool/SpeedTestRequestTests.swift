import Testing

@testable import control_server

/// POST /testRequest, on a server without a network.
@Suite struct SpeedTestRequestTests {
  @Test func `when a recorded client asks for a test, then it gets one with the real server's types`() async throws {
    let server = try await LabServer()
    let answer = try await server.testRequest()
    guard case .string(let open) = answer["open_test_uuid"], case .string(let token) = answer["test_token"] else {
      throw Refusal.format("no test")
    }
    #expect(open.hasPrefix("O"))
    #expect(token.hasPrefix(open.dropFirst() + "_"))
    #expect(token.contains("=_#v2#"))
    let expected: [String: JSONValue] = [
      "test_server_address": "192.0.2.1", "test_server_port": 5231, "test_server_encryption": false,
      "test_server_type": "RMBThttp", "test_duration": "2", "test_numthreads": "5", "test_numpings": "10",
      "test_wait": 0, "client_remote_ip": "192.0.2.7", "result_url": "http://lab/RMBTControlServer/result",
      "result_qos_url": "http://lab/RMBTControlServer/resultQoS", "error": [],
    ]
    for (key, value) in expected { #expect(answer[key] == value, "\(key)") }
    // Without loopmode_info, the test is in no loop.
    #expect(answer["loop_uuid"] == nil)
    let test = try await server.speedTests().first
    #expect(test?["state"] == "STARTED")
    #expect(test?["test_uuid"] == answer["test_uuid"])
    #expect(test?["results_accepted"] == 0)
  }

  @Test func `when the client's UUID begins with U, then the client is found`() async throws {
    let server = try await LabServer()
    let answer = try await server.testRequest("java", ["uuid": .string("U" + server.client.uppercased())])
    #expect(answer["error"] == [])
  }

  @Test(arguments: [
    ("uuid", "7d9a0000-0000-4000-8000-000000000000", "No client found by id 7d9a0000-0000-4000-8000-000000000000"),
    ("uuid", nil, "No client found by id null"),
    ("client", "Foo", "unknown client Foo"), ("client", nil, "unknown client null"),
    ("type", "TOASTER", "unknown client type TOASTER"), ("type", nil, "unknown client type null"),
    ("timezone", "Mars/Dome", "unknown timezone Mars/Dome"), ("timezone", nil, "unknown timezone null"),
    ("timezone", "GMT+2", "unknown timezone GMT+2"), ("timezone", "+02:00", "unknown timezone +02:00"),
    ("timezone", "local time", "unknown timezone local time"), ("timezone", "", "unknown timezone "),
  ])
  func badRequest(key: String, value: String?, reason: String) async throws {
    let server = try await LabServer()
    await #expect(throws: Refusal.listed(reason)) {
      try await server.testRequest("java", [key: JSONValue(value)])
    }
    #expect(try await server.speedTests().isEmpty)
  }

  @Test(arguments: ["Europe/Vienna", "UTC", "Etc/UTC", "America/Argentina/Ushuaia", "Asia/Calcutta"])
  func `when a time zone is one of IANA's, then it is accepted`(name: String) async throws {
    let server = try await LabServer()
    #expect(try await server.testRequest("java", ["timezone": .string(name)])["error"] == [])
  }

  @Test(arguments: MeasurementType.allCases, [true, false, nil])
  func `when a client does not know RMBThttp, then only servers of type RMBT are offered`(
    type: MeasurementType, capability: Bool?
  ) async throws {
    var measurement = LabServer.measurement
    measurement.type = type
    let server = try await LabServer(measurement: measurement)
    let capabilities: JSONValue = capability.map { ["RMBThttp": .bool($0)] } ?? .null
    if type == .native || capability == true {
      let answer = try await server.testRequest("java", ["capabilities": capabilities])
      #expect(answer["test_server_type"] == .string(type.rawValue))
    } else {
      await #expect(throws: Refusal.listed("no measurement server for this client")) {
        try await server.testRequest("java", ["capabilities": capabilities])
      }
    }
  }

  @Test func `when there is no measurement server, then the answer is an error`() async throws {
    let server = try await LabServer(measurement: nil)
    await #expect(throws: Refusal.listed("no measurement server for this client")) { try await server.testRequest() }
  }

  @Test(arguments: [("1", "1"), ("9", "9"), ("\"4\"", "4"), ("10", "5"), ("0", "5"), ("-3", "5"), ("null", "5")])
  func `when a client asks for 1 to 9 threads, then it gets them, otherwise the default`(asked: String, granted: String)
    async throws
  {
    let server = try await LabServer()
    let answer = try await server.testRequest("java", ["num_threads": try JSONParser.parse(Array(asked.utf8))])
    #expect(answer["test_numthreads"] == .string(granted))
  }

  @Test func `when a loop continues, then its UUID comes back unchanged`() async throws {
    let server = try await LabServer()
    let first = try await server.testRequest("java", ["loopmode_info": ["test_counter": 1, "max_tests": 3]])
    guard case .string(let loop) = first["loop_uuid"] else { throw Refusal.format("no loop") }
    #expect(loop.hasPrefix("L"))
    for (counter, spelling) in [(2, loop), (3, String(loop.dropFirst()))] {
      let info: JSONValue = ["test_counter": JSONValue(counter), "loop_uuid": .string(spelling)]
      #expect(try await server.testRequest("java", ["loopmode_info": info])["loop_uuid"] == .string(loop))
    }
    let tests = try await server.speedTests()
    #expect(tests.map { $0["test_counter"] } == [1, 2, 3])
    #expect(tests.allSatisfy { $0["loop_uuid"] == .string(String(loop.dropFirst())) })
    await #expect(throws: Refusal.listed("invalid loop_uuid Lx")) {
      try await server.testRequest("java", ["loopmode_info": ["loop_uuid": "Lx"]])
    }
  }

  @Test(arguments: [
    "[]", "{\"uuid\":1}", "{\"capabilities\":[]}", "{\"loopmode_info\":1}", "{\"num_threads\":\"x\"}",
    "{\"num_threads\":1.5}",
    "{\"measurement_type_flag\":\"no\"}",
  ])
  func malformed(body: String) async throws {
    let server = try await LabServer()
    let body = try JSONParser.parse(Array(body.utf8))
    let refusal = await #expect(throws: Refusal.self) { try await server.call("testRequest", body) }
    guard case .badRequest(let text) = refusal else { throw Refusal.format("another refusal") }
    #expect(text.hasPrefix("Invalid request format: "))
  }
}
