import Coverage
import Foundation

/// Why a request to the control server did not succeed (docs/protocol.md, 3.1). None of its fences counts as submitted.
public enum ServerFailure: Error, Hashable, CustomStringConvertible {
  /// No connection, because of the name, the route, a refusal or TLS, or the request was cancelled before. No byte of its body was sent. The text begins with the URL.
  case unreachable(String)
  /// The connection ended, or the timeout passed, before the answer. The server may have the request. The text begins with the URL.
  case noAnswer(String)
  /// 429, with the wait that a usable `Retry-After` asks for.
  case tooManyRequests(retryAfter: Duration?)
  /// The server refused the request: 4xx, or 2xx with `error` entries.
  case refused(status: Int, message: String)
  /// 5xx, with the wait that a usable `Retry-After` asks for.
  case serverTrouble(status: Int, message: String, retryAfter: Duration? = nil)
  /// The answer is not from a control server: a redirect, HTML, an empty body. Often from a captive portal.
  case notTheServer(status: Int, found: String)
  /// A success with a missing or wrong value, or an answer that is no HTTP. The server may have the request.
  case unusableAnswer(String)

  /// The upper limit for the wait that a server asks for.
  public static let longestWait: Duration = .seconds(3600)

  /// The server does not know the loop, or it belongs to another client (docs/protocol.md, 3.1). The same request
  /// without a loop may succeed.
  public var isUnknownLoop: Bool {
    if case .refused(400, let message) = self { message.contains("loop UUID") } else { false }
  }

  /// The wait that the server asks for before the next request; `nil`: none.
  public var retryAfter: Duration? {
    switch self {
    case .tooManyRequests(let wait), .serverTrouble(_, _, let wait): wait
    default: nil
    }
  }

  /// One line for the operator.
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
