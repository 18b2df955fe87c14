import Coverage
import Foundation

/// Why a request to the control server did not succeed (spec 4.0, 4.4). Nothing that was to be sent counts as sent.
public enum ServerFailure: Error, Hashable, CustomStringConvertible {
  /// No connection: name, route, refusal or TLS; nothing has left. The text begins with the URL.
  case unreachable(String)
  /// The connection ended, or time was up, before the answer; the server may have the request. The text begins with the URL.
  case noAnswer(String)
  /// 429, with the wait that a usable `Retry-After` asks for.
  case tooManyRequests(retryAfter: Duration?)
  /// The server understood the request and does not want it: 4xx, or 2xx with `error` entries.
  case refused(status: Int, message: String)
  /// 5xx, with the wait that a usable `Retry-After` asks for.
  case serverTrouble(status: Int, message: String, retryAfter: Duration? = nil)
  /// An answer that this server would not give: a redirect, HTML, an empty body. Often a captive portal.
  case notTheServer(status: Int, found: String)
  /// Success, but something is missing or wrong in it.
  case unusableAnswer(String)

  /// Nobody waits for longer, whatever the server asks for.
  public static let longestWait: Duration = .seconds(3600)

  /// The server knows no such loop, or it is another client's (spec 4.0): the same request without a loop may succeed.
  public var isUnknownLoop: Bool {
    if case .refused(400, let message) = self { message.contains("loop UUID") } else { false }
  }

  /// For how long the server asks to be left alone.
  public var retryAfter: Duration? {
    switch self {
    case .tooManyRequests(let wait), .serverTrouble(_, _, let wait): wait
    default: nil
    }
  }

  public var description: String {
    let wait = min(retryAfter ?? .zero, Self.longestWait)
    let plan = wait > .zero ? ", not before \(wait.inMilliseconds / 1000) s" : ""
    return switch self {
    case .unreachable(let reason), .noAnswer(let reason): "cannot reach the control server \(reason)"
    case .tooManyRequests: "the control server asks for fewer requests (429\(plan))"
    case .refused(let status, let message): "the control server refused (\(status)): \(message)"
    case .serverTrouble(let status, let message, _): "the control server is in trouble (\(status)\(plan)): \(message)"
    case .notTheServer(let status, let found):
      "no control server answered (\(status), \(found)): wrong control-server.url, or a captive portal"
    case .unusableAnswer(let reason): "the control server's answer cannot be used: \(reason)"
    }
  }
}

/// Sorts an HTTP answer: success is 2xx with a JSON object and without `error` entries, nothing less (spec 4.0).
enum Answer {
  /// - Parameter clientUUID: What the request named this device by: that is in no failure.
  static func body(
    status: Int, retryAfter: Duration?, body: Data, clientUUID: String? = nil
  ) throws(ServerFailure) -> Data {
    let discretion = Discretion(clientUUID: clientUUID)
    let object = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    let errors = (object?["error"].map(messages) ?? []).map(discretion.apply)
    var found: String { describe(body, discretion) }
    switch status {
    case 200..<300:
      guard object != nil else { throw .notTheServer(status: status, found: found) }
      guard errors.isEmpty else { throw .refused(status: status, message: errors.joined(separator: "; ")) }
      return body
    case 429: throw .tooManyRequests(retryAfter: retryAfter)
    case 300..<400: throw .notTheServer(status: status, found: "a redirect")
    case 500...: throw .serverTrouble(status: status, message: errors.first ?? found, retryAfter: retryAfter)
    default: throw .refused(status: status, message: errors.first ?? found)
    }
  }

  private static func messages(_ value: Any) -> [String] {
    switch value {
    case let list as [Any]: list.map { $0 as? String ?? "\($0)" }
    case let text as String: text.isEmpty ? [] : [text]
    case is NSNull: []
    default: ["\(value)"]
    }
  }

  private static func describe(_ body: Data, _ discretion: Discretion) -> String {
    if body.isEmpty { return "an empty body" }
    // Half a name would not be found: what is hidden goes before the text is cut.
    let start = discretion.apply(to: String(decoding: body.prefix(4096), as: UTF8.self)).prefix(60)
    return "a body that begins with \"\(start.split(whereSeparator: \.isWhitespace).joined(separator: " "))\""
  }
}
