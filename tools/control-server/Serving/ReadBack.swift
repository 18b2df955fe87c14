import GRDB

/// GET /-/tests: clients, tests, speed tests and counts of requests, for tests and for users.
extension Store {
  func tests() async throws -> JSONValue {
    try await database.read { db in
      let clients = try String.fetchAll(db, sql: "SELECT uuid FROM client ORDER BY rowid").map { JSONValue.string($0) }
      let tests = try Row.fetchAll(db, sql: "SELECT * FROM test ORDER BY id").map { try Self.readBack($0, in: db) }
      let counts = try Row.fetchAll(db, sql: "SELECT path, count FROM request_count ORDER BY path").map { row in
        JSONValue.Member(key: row["path"], value: JSONValue(row["count"] as Int64?))
      }
      return [
        "clients": .array(clients), "tests": .array(tests), "speed_tests": .array(try Self.speedTests(in: db)),
        "requests": .object(counts),
      ]
    }
  }

  private static func readBack(_ row: Row, in db: Database) throws -> JSONValue {
    let uuid: String = row["uuid"]
    let body: String? = row["result_body"]
    let device = CoverageResult.deviceKeys.map { JSONValue.Member(key: $0, value: JSONValue(row[$0] as String?)) }
    return [
      "uuid": .string(uuid), "open_test_uuid": JSONValue(row["open_test_uuid"] as String?),
      "client_uuid": JSONValue(row["client_uuid"] as String?), "loop_uuid": JSONValue(row["loop_uuid"] as String?),
      "loop_test_counter": JSONValue(row["loop_test_counter"] as Int64?),
      "state": JSONValue(row["state"] as String?), "deleted": JSONValue(row["deleted"] as Bool?),
      "time": JSONValue(row["time"] as Int64?), "registered": JSONValue(row["registered"] as Int64?),
      "measurement_type_flag": JSONValue(row["measurement_type_flag"] as String?),
      "client_name": JSONValue(row["client_name"] as String?),
      "client_ip": JSONValue(row["client_ip"] as String?),
      "ip_registered": JSONValue(row["ip_registered"] as String?),
      "ip_submitted": JSONValue(row["ip_submitted"] as String?),
      "public_ip_changed": JSONValue(row["public_ip_changed"] as Bool?),
      "network_type": JSONValue(row["network_type"] as Int64?),
      "termination_cause": JSONValue(row["termination_cause"] as String?),
      "device": .object(device),
      "fences_count": JSONValue(row["fences_count"] as Int64?),
      "fences": .array(try fences(of: uuid, in: db)), "radio": try RadioInfo.readBack(uuid, in: db),
      "request": try JSONParser.parse(stored: row["request_body"]),
      "result": try JSONParser.parse(stored: body), "result_body": JSONValue(body),
    ]
  }

  private static func fences(of test: String, in db: Database) throws -> [JSONValue] {
    try Row.fetchAll(
      db, sql: "SELECT fence_id, fence_time, received FROM fence WHERE test_uuid = ? ORDER BY fence_id",
      arguments: [test]
    ).map { row in
      [
        "fence_id": JSONValue(row["fence_id"] as Int64?), "fence_time": JSONValue(row["fence_time"] as Int64?),
        "received": try JSONParser.parse(stored: row["received"]),
      ]
    }
  }
}
