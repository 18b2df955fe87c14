/// What the server is told on its command line.
struct ServerOptions: Sendable {
  /// The first one mints the tokens.
  var secrets: [String]
  var pingHost: String
  var pingHostIPv6: String
  var pingPort: Int
  var maxSessionSeconds: Int
  var maxMeasurementSeconds: Int
  var trustRealIP: Bool
  var takesGzip = false
}

/// Where the endpoints are.
enum Route {
  static let control = "/RMBTControlServer"
  static let statistic = "/RMBTStatisticServer"
  /// Read-back and faults, which no real server has.
  static let backstage = "\(control)/-"
}

/// A request with its body read.
struct Call: Sendable {
  let peer: PeerAddress
  let body: [UInt8]
  /// `http://host:port` as the client wrote it.
  let base: String

  var text: String { String(decoding: body, as: UTF8.self) }
}

/// What is to be answered.
struct Answer: Sendable {
  var status: Int
  var contentType: String? = "application/json;charset=UTF-8"
  var retryAfter: String?
  var location: String?
  var body: String

  static func json(_ value: JSONValue, status: Int = 200) -> Answer { Answer(status: status, body: value.text) }

  static func error(_ text: String, status: Int) -> Answer { json(["error": [.string(text)]], status: status) }

  static let empty = Answer(status: 200, contentType: nil, body: "")
}

/// The protocol's endpoints; each in an extension beside its rules.
struct Endpoints: Sendable {
  let store: Store
  let options: ServerOptions

  /// The name by which faults and the request log know an endpoint: `coverageResult`, `opentests`.
  static func name(method: String, path: String) -> String? {
    switch method {
    case "POST":
      let names = ["settings", "coverageRequest", "coverageResult", "history", "ip"]
      return names.first { path == "\(Route.control)/\($0)" }
    case "GET": return path.hasPrefix("\(Route.statistic)/opentests/") ? "opentests" : nil
    default: return nil
    }
  }

  /// Carries out a request; throws `Refusal` where the server's rules say no.
  func carryOut(_ name: String, path: String, _ call: Call) async throws -> Answer {
    switch name {
    case "settings": try await settings(call)
    case "coverageRequest": try await coverageRequest(call)
    case "coverageResult": try await coverageResult(call)
    case "history": try await history(call)
    case "ip": try await ip(call)
    default: try await openTest(String(path.split(separator: "/").last ?? ""))
    }
  }
}
