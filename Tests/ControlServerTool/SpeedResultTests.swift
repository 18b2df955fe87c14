import Testing

@testable import control_server

/// POST /result and POST /resultUpdate, on a server without a network.
@Suite struct SpeedResultTests {
  @Test(
    arguments: [
      ("java", 1_490_333, 4_943_648, 597_738, 97), ("cliC", 7_715_292, 9_005_502, 15_544, 98),
      ("pypi", 3_823_836, 127_230, 21_692, 98),
    ] as [(String, Int, Int, Int, Int)])
  func `when a recorded result comes, then its figures are stored once`(
    name: String, download: Int, upload: Int, ping: Int, network: Int
  ) async throws {
    let server = try await LabServer()
    let result = try server.result(name, token: try await server.testRequest()["test_token"])
    #expect(try await server.call("result", result) == ["error": []])
    await #expect(throws: Refusal.badRequest("invalid test status")) { try await server.call("result", result) }
    let test = try await server.speedTests().first
    #expect(test?["state"] == "FINISHED")
    #expect(test?["results_accepted"] == 1)
    #expect(test?["test_speed_download"] == JSONValue(download))
    #expect(test?["test_speed_upload"] == JSONValue(upload))
    #expect(test?["test_ping_shortest"] == JSONValue(ping))
    #expect(test?["network_type"] == JSONValue(network))
    #expect(test?["result"] == result)
  }

  @Test(
    "when a result has a network type, then the test has the group of the real database, and is deleted only for 97",
    arguments: [
      (97, true, "CLI", "CLI"), (98, false, "LAN", "LAN"), (99, false, "WLAN", "WLAN"), (106, false, "Ethernet", "LAN"),
      (108, false, "VPN", "LAN"), (13, false, "4G", "MOBILE"), (20, false, "5G", "MOBILE"), (0, false, nil, nil),
      (96, false, nil, nil),
    ] as [(Int, Bool, String?, String?)])
  func networkTypes(type: Int, isDeleted: Bool, group: String?, kind: String?) async throws {
    let server = try await LabServer()
    let result = try server.result(
      token: try await server.testRequest()["test_token"], ["network_type": JSONValue(type)])
    #expect(try await server.call("result", result) == ["error": []])
    let test = try #require(try await server.speedTests().first)
    #expect(test["deleted"] == .bool(isDeleted) && test["state"] == "FINISHED" && test["results_accepted"] == 1)
    #expect(test["network_group_name"] == JSONValue(group) && test["network_group_type"] == JSONValue(kind))
  }

  @Test("when a test is older than the trigger's five minutes, then its result does not delete it")
  func oldTests() {
    #expect(NetworkTypes.deletes(97, started: 1000, now: 300_999))
    #expect(!NetworkTypes.deletes(97, started: 1000, now: 301_000))
    #expect(!NetworkTypes.deletes(nil, started: 1000, now: 1000) && !NetworkTypes.deletes(13, started: 1000, now: 1000))
  }

  @Test(arguments: [
    ("test_speed_download", "0"), ("test_speed_download", "800000000"), ("test_speed_download", "null"),
    ("test_speed_upload", "0"), ("test_speed_upload", "-1"), ("test_speed_upload", "800000000"),
    ("test_speed_upload", "null"), ("test_ping_shortest", "0"), ("test_ping_shortest", "60000000000"),
    ("test_ping_shortest", "null"), ("network_type", "-1"), ("network_type", "null"),
    ("timezone", "\"Mars/Dome\""), ("test_speed_upload", "9223372036854775808"), ("test_speed_upload", "1.5"),
    ("test_token", "null"), ("test_token", "\"\""), ("test_token", "\"7d9a0000-0000-4000-8000-000000000000_1_x\""),
  ])
  func badResultStoresNothing(key: String, value: String) async throws {
    let server = try await LabServer()
    let token = try await server.testRequest()["test_token"]
    let bad = try server.result("cliC", token: token, [key: try JSONParser.parse(Array(value.utf8))])
    let refusal = await #expect(throws: Refusal.self) { try await server.call("result", bad) }
    guard case .badRequest = refusal else { throw Refusal.format("another refusal") }
    #expect(try await server.speedTests().first?["results_accepted"] == 0)
    // The refused result left the test open.
    #expect(try await server.call("result", server.result("cliC", token: token)) == ["error": []])
  }

  @Test(arguments: [
    ("test_speed_download", "1"), ("test_speed_download", "799999999"), ("test_speed_upload", "\"799999999\""),
    ("test_ping_shortest", "1"), ("test_ping_shortest", "59999999999"), ("network_type", "0"),
    ("network_type", "\"13\""), ("timezone", "null"), ("test_status", "null"), ("test_status", "\"2\""),
  ])
  func `when a figure is just within its limit, then the result is stored`(
    key: String, value: String
  ) async throws {
    let server = try await LabServer()
    let token = try await server.testRequest()["test_token"]
    let result = try server.result("cliC", token: token, [key: try JSONParser.parse(Array(value.utf8))])
    #expect(try await server.call("result", result) == ["error": []])
    #expect(try await server.speedTests().first?["results_accepted"] == 1)
  }

  @Test func `when only the UUID of a token is correct, then its result is stored`() async throws {
    let server = try await LabServer()
    let answer = try await server.testRequest()
    guard case .string(let uuid) = answer["test_uuid"] else { throw Refusal.format("no test") }
    let result = try server.result(token: .string("\(uuid)_0_"))
    #expect(try await server.call("result", result) == ["error": []])
  }

  @Test(arguments: ["\"1\"", "1"])
  func `when a result reports a failed test, then the answer is a success and nothing is stored`(
    status: String
  ) async throws {
    let server = try await LabServer()
    let token = try await server.testRequest()["test_token"]
    let failed = try server.result(
      "cliC", token: token, ["test_status": try JSONParser.parse(Array(status.utf8)), "test_speed_upload": 0])
    #expect(try await server.call("result", failed) == ["error": []])
    #expect(try await server.speedTests().first?["results_accepted"] == 0)
    #expect(try await server.speedTests().first?["state"] == "STARTED")
  }

  @Test(arguments: [("aborted", "ABORTED"), ("failed", "ERROR")])
  func `when a test was closed, then its result is refused`(reason: String, state: String) async throws {
    let server = try await LabServer()
    let answer = try await server.testRequest()
    let update: JSONValue = .object([
      .init(key: "uuid", value: .string(server.client)), .init(key: "test_uuid", value: answer["test_uuid"] ?? .null),
      .init(key: reason, value: true),
    ])
    // A repeated update is no error.
    for _ in 0..<2 { #expect(try await server.call("resultUpdate", update) == ["error": []]) }
    let result = try server.result(token: answer["test_token"])
    await #expect(throws: Refusal.badRequest("invalid test status")) { try await server.call("result", result) }
    #expect(try await server.speedTests().first?["state"] == .string(state))
  }

  @Test func `when an update is not for an open test of the client, then it changes nothing`() async throws {
    let server = try await LabServer()
    let answer = try await server.testRequest()
    let test = answer["test_uuid"] ?? .null
    let stranger = JSONValue.string(try await server.endpoints.store.createClient())
    let own = JSONValue.string(server.client)
    for (client, test) in [(stranger, test), (own, JSONValue.string(Store.newUUID())), (own, .null), (.null, test)] {
      await #expect(throws: Refusal.self) {
        try await server.call("resultUpdate", ["uuid": client, "test_uuid": test, "aborted": true])
      }
    }
    #expect(try await server.call("resultUpdate", ["uuid": own, "test_uuid": test, "aborted": false]) == ["error": []])
    #expect(try await server.call("result", server.result(token: answer["test_token"])) == ["error": []])
    await #expect(throws: Refusal.badRequest("invalid test status")) {
      try await server.call("resultUpdate", ["uuid": own, "test_uuid": test, "aborted": true])
    }
    #expect(try await server.speedTests().first?["state"] == "FINISHED")
  }
}
