import Foundation
import GRDB

/// POST /history, POST /ip and the statistics server's GET /opentests, with which apps read back their results.
extension Endpoints {
  func history(_ call: Call) async throws -> Answer {
    let fields = try Fields(body: call.body)
    let uuid = try fields.uuid("uuid")
    let failed = try fields.bool("include_failed_tests") ?? false
    let coverage = try fields.bool("include_coverage_fences") ?? false
    // As on the real server, asking for failed tests takes precedence, and coverage rows are then left out.
    let states = failed ? ["UPDATE ERROR"] : coverage ? ["COVERAGE"] : []
    let limit = try fields.integer("result_limit", as: Int32.self) ?? -1
    let offset = try fields.integer("result_offset", as: Int32.self) ?? 0
    let items = try await store.history(client: uuid, states: states, limit: limit, offset: offset)
    return .json(["history": .array(items.map(\.withoutNulls))])
  }

  func ip(_ call: Call) async throws -> Answer {
    let fields = try Fields(body: call.body)
    if let local = try fields.string("client_ip_local"), PeerAddress(local) == nil {
      throw Refusal.badRequest("'\(local)' is not an IP string literal.")
    }
    return .json(["v": .string(String(call.peer.version)), "ip": .string(call.peer.text), "nat_type": "unknown"])
  }

  /// - Parameter id: The last part of the path: `O` and an open test UUID, or a test UUID.
  func openTest(_ id: String) async throws -> Answer {
    guard id.hasPrefix("O"), let uuid = UUID(uuidString: String(id.dropFirst()))?.uuidString.lowercased(),
      let test = try await store.openTest(uuid)
    else { throw Refusal.notFound("invalid open-uuid") }
    return .json(test)
  }
}

extension Store {
  func history(client: String?, states: [String], limit: Int32, offset: Int32) async throws -> [JSONValue] {
    try await database.read { db in
      let client = try Self.requireClient(client, in: db)
      let places = states.map { _ in "?" }.joined(separator: ", ")
      return try Row.fetchAll(
        db,
        sql: """
          SELECT uuid, open_test_uuid, loop_uuid, time, timezone, network_type, fences_count, state FROM test
          WHERE client_uuid = ? AND deleted = 0 AND state IN (\(places)) ORDER BY time DESC, id DESC LIMIT ? OFFSET ?
          """,
        arguments: StatementArguments([client] + states + [limit, offset] as [any DatabaseValueConvertible])
      ).map(Self.historyItem)
    }
  }

  private static func historyItem(_ row: Row) -> JSONValue {
    let fences = row["fences_count"] as Int64? ?? 0
    let time = row["time"] as Int64? ?? 0
    return [
      "test_uuid": JSONValue(row["uuid"] as String?),
      "open_test_uuid": .string("O" + (row["open_test_uuid"] as String)),
      "time": JSONValue(time), "timezone": JSONValue(row["timezone"] as String?),
      "time_string": .string(timeText(time, zone: row["timezone"])),
      "network_type": JSONValue((row["network_type"] as Int64?).map(String.init)),
      "loop_uuid": .string("L" + (row["loop_uuid"] as String)),
      "isCoverageFences": JSONValue(fences > 0), "fencesCount": JSONValue(fences),
      "status": (row["state"] as String) == "COVERAGE" ? .null : JSONValue(row["state"] as String?),
    ]
  }

  private static func timeText(_ milliseconds: Int64, zone: String?) -> String {
    let zone = zone.flatMap(TimeZone.init(identifier:)) ?? .gmt
    let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone)
    let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
    return date.formatted(style.year().month().day().time(includingFractionalSeconds: false))
  }

  func openTest(_ uuid: String) async throws -> JSONValue? {
    try await database.read { db in
      let test = try Row.fetchOne(
        db,
        sql: """
          SELECT uuid, open_test_uuid, time FROM test
          WHERE state = 'COVERAGE' AND deleted = 0 AND ? IN (open_test_uuid, uuid)
          """, arguments: [uuid])
      guard let test else { return nil }
      let fences = try Row.fetchAll(
        db, sql: "SELECT * FROM fence WHERE test_uuid = ? ORDER BY fence_id", arguments: [test["uuid"] as String]
      ).map { row -> JSONValue in
        [
          "fence_id": JSONValue(row["fence_id"] as Int64?), "technology_id": JSONValue(row["technology_id"] as Int64?),
          "technology": JSONValue(row["technology"] as String?),
          // The real server's statistics have no null here.
          "avg_ping_ms": JSONValue(row["avg_ping_ms"] as Double? ?? 0),
          "offset_ms": JSONValue(row["offset_ms"] as Int64?), "duration_ms": JSONValue(row["duration_ms"] as Int64?),
          "radius": JSONValue(row["radius"] as Int64?), "longitude": JSONValue(row["longitude"] as Double?),
          "latitude": JSONValue(row["latitude"] as Double?), "fence_time": JSONValue(row["fence_time"] as Int64?),
        ]
      }
      return [
        "open_test_uuid": .string("O" + (test["open_test_uuid"] as String)),
        "speed_curve": ["download": [], "upload": [], "ping": [], "fences": .array(fences.map(\.withoutNulls))],
      ]
    }
  }
}
