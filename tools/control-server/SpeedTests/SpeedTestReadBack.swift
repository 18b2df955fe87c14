import GRDB

/// The speed tests of GET /-/tests.
extension Store {
  static func speedTests(in db: Database) throws -> [JSONValue] {
    try Row.fetchAll(db, sql: "SELECT * FROM speed_test ORDER BY id").map { row in
      let uuid: String = row["uuid"]
      let results = try Row.fetchAll(
        db, sql: "SELECT * FROM speed_result WHERE test_uuid = ? ORDER BY id", arguments: [uuid])
      let qos = try String.fetchAll(
        db, sql: "SELECT body FROM qos_result WHERE test_uuid = ? ORDER BY id", arguments: [uuid])
      let last = results.last
      func figure(_ key: String) -> JSONValue { JSONValue(last?[key] as Int64?) }
      return [
        "test_uuid": .string(uuid), "open_test_uuid": JSONValue(row["open_test_uuid"] as String?),
        "client_uuid": JSONValue(row["client_uuid"] as String?), "test_token": JSONValue(row["token"] as String?),
        "loop_uuid": JSONValue(row["loop_uuid"] as String?), "test_counter": JSONValue(row["test_counter"] as Int64?),
        "measurement_type_flag": JSONValue(row["measurement_type_flag"] as String?),
        "state": JSONValue(row["state"] as String?), "registered": JSONValue(row["registered"] as Int64?),
        "client_ip": JSONValue(row["client_ip"] as String?),
        "results_accepted": JSONValue(results.count), "deleted": JSONValue(row["deleted"] as Bool?),
        "network_group_name": JSONValue(row["network_group_name"] as String?),
        "network_group_type": JSONValue(row["network_group_type"] as String?),
        "test_speed_download": figure("test_speed_download"), "test_speed_upload": figure("test_speed_upload"),
        "test_ping_shortest": figure("test_ping_shortest"), "network_type": figure("network_type"),
        "radio": try RadioInfo.readBack(uuid, in: db), "request": try JSONParser.parse(stored: row["request_body"]),
        "result": try JSONParser.parse(stored: last?["body"]),
        "qos_results": .array(try qos.map { try JSONParser.parse(stored: $0) }),
      ]
    }
  }
}
