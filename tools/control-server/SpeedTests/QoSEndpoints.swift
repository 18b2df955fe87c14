import GRDB

/// POST /qosTestRequest and POST /resultQoS: the objectives of QoS tests, and their results.
extension Endpoints {
  func qosTestRequest(_ call: Call) async throws -> Answer {
    let request = try SpeedTestRequest(Fields(body: call.body), body: call.text)
    try await store.check(request)
    guard let places = options.qos else { throw Refusal.listed("no QoS server") }
    return .json([
      "objectives": QoSObjectives.json(at: places, page: call.base + Route.page),
      "client_remote_ip": .string(call.peer.text), "error": [],
    ])
  }

  func resultQoS(_ call: Call) async throws -> Answer {
    let result = try QoSResult(Fields(body: call.body), body: call.text)
    try await store.accept(result)
    return .json(["error": []])
  }
}

extension Store {
  func check(_ request: SpeedTestRequest) async throws {
    try await database.read { db in _ = try Self.checked(request, in: db) }
  }

  /// Stores a result of QoS tests, before or after the speed test's own.
  func accept(_ result: QoSResult) async throws {
    try await database.write { db in
      // The token is compared as a whole, byte for byte, unlike that of a speed test's result.
      let test = try Row.fetchOne(
        db, sql: "SELECT uuid, deleted FROM speed_test WHERE token = ?", arguments: [result.token])
      guard let test else { throw Refusal.badRequest("No test found by token \(result.token ?? "null")") }
      // Like the real server, report success and store nothing.
      guard !(test["deleted"] as Bool) else { return }
      let uuid: String = test["uuid"]
      try db.execute(
        sql: "INSERT INTO qos_result (test_uuid, received, body) VALUES (?, ?, ?)",
        arguments: [uuid, Self.now(), result.body])
    }
  }
}
