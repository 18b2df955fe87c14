import Testing

@testable import control_server

/// POST /qosTestRequest and POST /resultQoS, on a server without a network.
@Suite struct QoSTests {
  private func objectives(_ server: LabServer) async throws -> [JSONValue.Member] {
    let body = try LabServer.fixture("java-qosTestRequest", ["uuid": .string(server.client)])
    guard case .object(let types) = try await server.call("qosTestRequest", body)["objectives"] else {
      throw Refusal.format("no objectives")
    }
    return types
  }

  @Test func `when a recorded client asks for QoS tests, then all values of the objectives are text`() async throws {
    let types = try await objectives(LabServer())
    #expect(
      Set(types.map(\.key)) == [
        "tcp", "udp", "voip", "non_transparent_proxy", "http_proxy", "dns", "website", "traceroute",
        "traceroute_masked",
      ])
    var uids: Set<JSONValue> = []
    for type in types {
      guard case .array(let list) = type.value else { throw Refusal.format("no list") }
      for case .object(let members) in list {
        for member in members {
          guard case .string = member.value else { throw Refusal.format("\(type.key).\(member.key) is no text") }
        }
        let objective = JSONValue.object(members)
        #expect(objective["server_addr"] == "127.0.0.1")
        #expect(objective["server_port"] == "5233")
        #expect(objective["concurrency_group"] != nil)
        #expect(uids.insert(try #require(objective["qos_test_uid"])).inserted)
      }
    }
    #expect(uids.count == 11)
  }

  @Test func `when the lab names its call port and resolver, then the objectives have them`() async throws {
    let types = try await objectives(LabServer())
    func first(_ type: String) -> JSONValue? {
      guard case .array(let list) = types.first(where: { $0.key == type })?.value else { return nil }
      return list.first
    }
    #expect(first("voip")?["out_port"] == "5061")
    #expect(first("dns")?["resolver"] == "127.0.0.1:5300")
  }

  @Test func `when there is no QoS server or no client, then the answer is an error`() async throws {
    await #expect(throws: Refusal.listed("no QoS server")) { try await objectives(LabServer(qosServer: nil)) }
    let server = try await LabServer()
    let foreign = try LabServer.fixture("java-qosTestRequest")
    await #expect(throws: Refusal.self) { try await server.call("qosTestRequest", foreign) }
  }

  @Test func `when a recorded QoS result has the test's token, then it is stored`() async throws {
    let server = try await LabServer()
    let token = try await server.testRequest()["test_token"] ?? .null
    // The reference client sends it after the speed test's own result.
    _ = try await server.call("result", server.result("cliC", token: token))
    let body = try LabServer.fixture("java-resultQoS", ["test_token": token])
    #expect(try await server.call("resultQoS", body) == ["error": []])
    #expect(try await server.speedTests().first?["qos_results"] == .array([body]))
  }

  @Test func `when a test was deleted by its network type, then its QoS result gets a success and is not stored`()
    async throws
  {
    let server = try await LabServer()
    let token = try await server.testRequest()["test_token"] ?? .null
    _ = try await server.call("result", server.result(token: token, ["network_type": 97]))
    let body = try LabServer.fixture("java-resultQoS", ["test_token": token])
    #expect(try await server.call("resultQoS", body) == ["error": []])
    #expect(try await server.speedTests().first?["qos_results"] == [])
  }

  @Test func `when a QoS result's token differs in one byte, then it is refused`() async throws {
    let server = try await LabServer()
    guard case .string(let token) = try await server.testRequest()["test_token"] else { throw Refusal.format("none") }
    // The first version alone suffices for the result of a speed test.
    let first = String(token.prefix(while: { $0 != "#" }).dropLast())
    for other in [token + " ", String(token.dropLast()), token.uppercased(), first, ""] {
      let body = try LabServer.fixture("java-resultQoS", ["test_token": .string(other)])
      await #expect(throws: Refusal.badRequest("No test found by token \(other)")) {
        try await server.call("resultQoS", body)
      }
    }
    #expect(try await server.speedTests().first?["qos_results"] == [])
  }

  @Test func `when a QoS result lacks its list or an entry's number, then it is refused`() async throws {
    let server = try await LabServer()
    let token = try await server.testRequest()["test_token"] ?? .null
    for list in [.null, [["test_type": "tcp"]], [["qos_test_uid": 1]], [1]] as [JSONValue] {
      let body = try LabServer.fixture("java-resultQoS", ["test_token": token, "qos_result": list])
      await #expect(throws: Refusal.self) { try await server.call("resultQoS", body) }
    }
    #expect(try await server.speedTests().first?["qos_results"] == [])
  }
}
