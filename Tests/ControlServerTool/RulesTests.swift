import Testing

@testable import control_server

/// The rules of the endpoints, on a server without a network.
@Suite struct RulesTests {
  let endpoints: Endpoints
  let backstage: Backstage

  init() throws {
    let store = try Store(path: ":memory:")
    endpoints = Endpoints(
      store: store,
      options: ServerOptions(
        secrets: ["s"], pingHost: "127.0.0.1", pingHostIPv6: "::1", pingPort: 4440, maxSessionSeconds: 14_400,
        maxMeasurementSeconds: 3_600, trustRealIP: false))
    backstage = Backstage(store: store, faults: FaultPlan())
  }

  private func call(_ name: String, _ body: String) async throws -> JSONValue {
    let peer = try #require(PeerAddress("127.0.0.1"))
    let answer = try await endpoints.carryOut(
      name, path: "", Call(peer: peer, body: Array(body.utf8), base: "http://localhost"))
    return try JSONParser.parse(Array(answer.body.utf8))
  }

  private func text(_ value: JSONValue?) throws -> String {
    guard case .string(let text) = value else { throw Refusal.format("no string") }
    return text
  }

  private func client() async throws -> String {
    let settings = try await call("settings", #"{"name":"RMBT","terms_and_conditions_accepted":true}"#)
    guard case .array(let list) = settings["settings"] else { throw Refusal.format("no settings") }
    return try text(list.first?["uuid"])
  }

  private func request(client: String, _ replaced: [String: String] = [:]) -> String {
    var members = [
      "client_uuid": "\"\(client)\"", "client_name": #""RMBT""#, "platform": #""Linux""#,
      "timezone": #""Europe/Vienna""#, "time": "1760000000000", "measurement_type_flag": #""dedicated""#,
    ]
    members.merge(replaced) { $1 }
    return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
  }

  private func storedFences() async throws -> Int {
    let tests = try await endpoints.store.tests()
    guard case .array(let list) = tests["tests"] else { return -1 }
    return list.reduce(0) { sum, test in
      guard case .array(let fences) = test["fences"] else { return sum }
      return sum + fences.count
    }
  }

  @Test(arguments: [
    ("client_uuid", #""no""#, Refusal.badRequest("No client found by id null")),
    ("client_name", #""Foo""#, .badRequest("unknown client_name Foo")),
    ("client_name", "null", .swallowed("client_name is missing")),
    ("platform", #""amiga""#, .badRequest("unknown platform amiga")),
    ("platform", "null", .swallowed("platform is missing")),
    ("timezone", "null", .swallowed("timezone is missing")),
    ("timezone", #""Mars/Dome""#, .swallowed("unknown timezone Mars/Dome")),
    ("time", "null", .swallowed("time is missing")),
    ("time", #""1760000000000""#, .format("time is not a number")),
    ("time", "1.5", .format("time: 1.5 is not an integer of 64 bits")),
    ("measurement_type_flag", #""no""#, .format("unknown measurement_type_flag no")),
    ("loop_uuid", #""no""#, .badRequest("No test with loop UUID found by id null")),
  ])
  func badCoverageRequest(key: String, value: String, refusal: Refusal) async throws {
    let body = request(client: try await client(), [key: value])
    await #expect(throws: refusal) { try await call("coverageRequest", body) }
  }

  @Test(arguments: [
    ("os_version", 100), ("model", 200), ("device", 200), ("client_language", 10), ("client_software_version", 100),
    ("softwareRevision", 200), ("telephony_network_sim_country", 10), ("wifi_ssid", 200),
  ])
  func `when a text is longer than its column, then nothing is stored`(key: String, width: Int) async throws {
    let client = try await client()
    // Two code points each.
    let text = String(repeating: "e\u{301}", count: width / 2)
    _ = try await call("coverageRequest", request(client: client, [key: "\"\(text)\""]))
    for (value, reason) in [(text + "x", "is longer than \(width) characters"), ("\\u0000", "has a NUL")] {
      await #expect(throws: Refusal.swallowed("\(key) \(reason)")) {
        try await call("coverageRequest", request(client: client, [key: "\"\(value)\""]))
      }
    }
  }

  @Test(arguments: [
    (#""cells":[{"mcc":232}]"#, Refusal.swallowed("radioInfo.cells[0].uuid is missing")),
    (#""cells":[{"mcc":"232"}]"#, .format("radioInfo.cells[0].mcc is not a number")),
    (
      #""cells":[{"area_code":9223372036854775808}]"#,
      .format("radioInfo.cells[0].area_code: 9223372036854775808 is not an integer of 64 bits")
    ),
    (
      #""cells":[{"cell_state":"0123456789012345"}]"#,
      .swallowed("radioInfo.cells[0].cell_state is longer than 15 characters")
    ),
    (
      #""signals":[{"cell_uuid":"2d0f1c8e-0000-4000-8000-0000000000ff"}]"#,
      .swallowed("radioInfo.signals[0].time_ns is missing")
    ),
    (#""signals":[{"time_ns":1}]"#, .swallowed("radioInfo.signals[0].cell_uuid is missing")),
    (#""signals":[{"lte_rsrp":-91.5}]"#, .format("radioInfo.signals[0].lte_rsrp: -91.5 is not an integer of 32 bits")),
  ])
  func `when a cell or a signal does not fit its columns, then the result is refused`(
    radio: String, refusal: Refusal
  ) async throws {
    let client = try await client()
    let test = try text(try await call("coverageRequest", request(client: client))["test_uuid"])
    await #expect(throws: refusal) {
      try await call("coverageResult", #"{"test_uuid":"\#(test)","client_uuid":"\#(client)","radioInfo":{\#(radio)}}"#)
    }
  }

  @Test func `when two tests name the same cell, then the second result is lost as a whole`() async throws {
    let client = try await client()
    func send() async throws {
      let test = try text(try await call("coverageRequest", request(client: client))["test_uuid"])
      let cell = #"{"uuid":"2d0f1c8e-0000-4000-8000-0000000000ff","technology":"4G","location_id":68719476734}"#
      _ = try await call(
        "coverageResult", #"{"test_uuid":"\#(test)","client_uuid":"\#(client)","radioInfo":{"cells":[\#(cell)]}}"#)
    }
    try await send()
    await #expect(throws: (any Error).self) { try await send() }
  }

  @Test func loopBelongsToItsClient() async throws {
    let client = try await client()
    let first = try await call("coverageRequest", request(client: client))
    let loop = "\"\(try text(first["loop_uuid"]))\""
    #expect(first["loop_test_counter"] == 1)
    #expect(first["ping_port"] == "4440")
    let second = try await call("coverageRequest", request(client: client, ["loop_uuid": loop]))
    #expect(second["loop_test_counter"] == 2)
    #expect(second["loop_uuid"] == first["loop_uuid"])
    let stranger = try await self.client()
    await #expect(throws: Refusal.self) {
      try await call("coverageRequest", request(client: stranger, ["loop_uuid": loop]))
    }
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "8640000000000000", "-62198755200000"])
  func `when a client's time is at an end of 64 bits, then its test is stored and listed`(time: String) async throws {
    let client = try await client()
    let test = try text(try await call("coverageRequest", request(client: client, ["time": time]))["test_uuid"])
    let fence = #"{"location":{"latitude":1,"longitude":2},"offset_ms":2147483647,"duration_ms":-2147483648}"#
    _ = try await call("coverageResult", #"{"test_uuid":"\#(test)","client_uuid":"\#(client)","fences":[\#(fence)]}"#)
    let asked = #"{"uuid":"\#(client)","include_coverage_fences":true"#
    let history = try await call("history", asked + #","result_limit":-2147483648,"result_offset":2147483647}"#)
    guard case .array(let skipped) = history["history"] else { throw Refusal.format("no history") }
    #expect(skipped.isEmpty)
    let whole = try await call("history", asked + "}")
    guard case .array(let items) = whole["history"] else { throw Refusal.format("no history") }
    #expect(items.map { $0["time"] } == [.number(time)])
    #expect(try await storedFences() == 1)
  }

  @Test func `when a loop has no number left, then no test is created`() async throws {
    let client = try await client()
    let loop = try text(try await call("coverageRequest", request(client: client))["loop_uuid"])
    try await endpoints.store.database.write { db in
      try db.execute(sql: "UPDATE test SET loop_test_counter = 9223372036854775807")
    }
    await #expect(throws: Refusal.swallowed("loop \(loop) has no number left")) {
      try await call("coverageRequest", request(client: client, ["loop_uuid": "\"\(loop)\""]))
    }
  }

  @Test(arguments: [
    (#""radius":1"#, Refusal.swallowed("fences[1].location is missing")),
    (
      #""location":{"latitude":1},"offset_ms":1,"duration_ms":1"#, .swallowed("fences[1].location.longitude is missing")
    ),
    (#""location":{"latitude":1,"longitude":2},"duration_ms":1"#, .swallowed("fences[1].offset_ms is missing")),
    (#""location":{"latitude":1,"longitude":2},"offset_ms":1"#, .swallowed("fences[1].duration_ms is missing")),
    (#""offset_ms":2147483648"#, .format("fences[1].offset_ms: 2147483648 is not an integer of 32 bits")),
    (#""radius":15.0"#, .format("fences[1].radius: 15.0 is not an integer of 32 bits")),
    (#""avg_ping_ms":"3""#, .format("fences[1].avg_ping_ms is not a number")),
  ])
  func badFenceStoresNothing(fence: String, refusal: Refusal) async throws {
    let client = try await client()
    let test = try text(try await call("coverageRequest", request(client: client))["test_uuid"])
    let good = #"{"location":{"latitude":48.2,"longitude":16.3},"offset_ms":-5750,"duration_ms":4100,"radius":18}"#
    func body(_ fences: String) -> String {
      #"{"test_uuid":"\#(test)","client_uuid":"\#(client)","fences":[\#(fences)]}"#
    }
    await #expect(throws: refusal) { try await call("coverageResult", body("\(good),{\(fence)}")) }
    #expect(try await storedFences() == 0)
    // The refused fences left the test open.
    #expect(try await call("coverageResult", body(good)) == [:])
    #expect(try await storedFences() == 1)
    // A second submission is refused for good.
    await #expect(throws: Refusal.badRequest("No started test found by id \(test)")) {
      try await call("coverageResult", body(good))
    }
  }
}
