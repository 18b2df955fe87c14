/// The state of the protocol's endpoints. Each endpoint is an extension in the file of its rules.
struct Endpoints: Sendable {
  let store: Store
  let options: ServerOptions

  /// The requests to the control server.
  static let names = [
    "settings", "coverageRequest", "coverageResult", "history", "ip", "testRequest", "result", "resultUpdate",
    "qosTestRequest", "resultQoS",
  ]

  /// The name of an endpoint in faults and in the request log: `coverageResult`, `opentests`.
  static func name(method: String, path: String) -> String? {
    switch method {
    case "POST": return names.first { path == "\(Route.control)/\($0)" }
    case "GET": return path.hasPrefix("\(Route.statistic)/opentests/") ? "opentests" : nil
    default: return nil
    }
  }
}
