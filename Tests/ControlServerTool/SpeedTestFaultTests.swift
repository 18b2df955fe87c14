import Foundation
import TestSupport
import Testing

@testable import control_server

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Faults of the requests of speed tests, over HTTP.
@Suite struct SpeedTestFaultTests {
  @Test(arguments: ["testRequest", "result", "resultUpdate", "qosTestRequest", "resultQoS"])
  func `when a fault is planned for a request, then its name selects it`(name: String) async {
    #expect(Endpoints.name(method: "POST", path: "/RMBTControlServer/\(name)") == name)
    let planned = PlannedFault(flag: "\(name):503:1")
    let plan = FaultPlan([planned].compactMap { $0 })
    #expect(await plan.next(for: "coverageResult") == .none)
    #expect(await plan.next(for: name) == .status(503))
  }

  @Test func `when the answer to a result is lost, then its repetition is refused and one result is stored`()
    async throws
  {
    let tool = try await ControlServerTool(["--measurement-server", "127.0.0.1:5231", "--fault", "testRequest:429:1"])
    let settings = try await post(tool, "settings", LabServer.fixture("pypi-settings", ["uuid": .null])).body
    guard case .array(let list) = settings["settings"], let client = list.first?["uuid"] else {
      throw Refusal.format("no client")
    }
    let request = try LabServer.fixture("java-testRequest", ["uuid": client])
    #expect(try await post(tool, "testRequest", request).status == 429)
    let token = try await post(tool, "testRequest", request).body["test_token"] ?? .null
    let result = try LabServer.fixture("java-result", ["test_token": token, "client_uuid": client])
    try await tool.setFault("drop-answer", on: "result", count: 1)
    await #expect(throws: (any Error).self) { _ = try await post(tool, "result", result) }
    let repeated = try await post(tool, "result", result)
    #expect(repeated.status == 400)
    #expect(repeated.body == ["error": ["invalid test status"]])
    let tests = try await tool.speedTests()
    #expect(tests.map { $0["results_accepted"] as? Int } == [1])
    #expect(tests.map { $0["state"] as? String } == ["FINISHED"])
    // A refusal of a request for a test comes with 200, as from the real server.
    let unknown = try await post(tool, "testRequest", LabServer.fixture("java-testRequest"))
    #expect(unknown.status == 200)
    #expect(unknown.body["error"] == ["No client found by id c373f294-f332-4f1a-999e-a87a12523f4b"])
    #expect(try await tool.requests(to: "result").map { $0["status"] as? Int } == [nil, 400])
  }

  private func post(
    _ tool: ControlServerTool, _ name: String, _ body: JSONValue
  ) async throws -> (status: Int, body: JSONValue) {
    guard let url = URL(string: "\(tool.url)/\(name)") else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(body.text.utf8)
    // On a connection that it has used before, curl repeats a request by itself when no answer comes.
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, try JSONParser.parse(Array(data)))
  }
}
