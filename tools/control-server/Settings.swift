import Foundation

/// POST /settings: registration, and the addresses for clients.
extension Endpoints {
  static let clientNames: Set<String> = ["RMBT", "RMBTjs", "Open-RMBT", "RMBTws", "HW-PROBE", "RTR-Netztest", "RMBTel"]

  func settings(_ call: Call) async throws -> Answer {
    let fields = try Fields(body: call.body)
    guard let name = try fields.string("name"), Self.clientNames.contains(name) else {
      throw Refusal.badRequest("Your client version is not supported.")
    }
    let accepted = try fields.bool("terms_and_conditions_accepted") ?? false
    let version = try fields.number("terms_and_conditions_accepted_version") ?? 0
    var uuid = try fields.uuid("uuid")
    if let known = uuid, try await !store.clientExists(known) { uuid = nil }
    // Without accepted terms no client is created, and each later request fails.
    if uuid == nil, accepted || version > 0 { uuid = try await store.createClient() }
    return .json(["settings": [settings(uuid: uuid, base: call.base).withoutNulls]])
  }

  private func settings(uuid: String?, base: String) -> JSONValue {
    [
      "uuid": JSONValue(uuid),
      "terms_and_conditions": ["version": 6, "url": .string("\(base)/tc")],
      "urls": [
        "control_ipv4_only": .string(base), "control_ipv6_only": .string(base),
        "url_ipv4_check": .string("\(base)\(Route.control)/ip"),
        "url_ipv6_check": .string("\(base)\(Route.control)/ip"),
        "statistics": .string(base), "url_statistic_server": .string("\(base)\(Route.statistic)"),
        "open_data_prefix": .string("\(base)/open/"), "url_map_server": .string(base),
        "url_share": .string("\(base)/share/"),
      ],
      "versions": ["control_server_version": "stand-in"],
      "servers": [], "servers_ws": [], "servers_qos": [],
      "history": ["devices": [], "networks": []],
      "qostesttype_desc": [],
      "signal_measurement_available": true,
    ]
  }
}
