import Coverage
import Foundation
import Networking

/// Why a request to the control server did not succeed (docs/protocol.md, 3.1). None of its fences counts as submitted.
public enum ServerFailure: Error, Hashable, CustomStringConvertible {
  /// No connection, because of the name, the route, a refusal or TLS, or the request was cancelled before. No byte of its body was sent. The text begins with the URL.
  /// `mayHaveNetwork`: something answered, such as a refusal, a certificate or the end of the connection, or this host itself is the reason.
  /// `unresolved`: the name for which no address was found.
  case unreachable(String, mayHaveNetwork: Bool = false, unresolved: String? = nil)
  /// The connection ended, or the timeout passed, before the answer. The server may have the request. The text begins with the URL.
  case noAnswer(String, mayHaveNetwork: Bool = false)
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

  /// The upper limit for the wait that a server asks for: a wrong header must not silence a device for days.
  static let longestWait: Duration = .seconds(3600)

  /// The server does not know the loop, or it belongs to another client (docs/protocol.md, 3.1). The same request
  /// without a loop may succeed.
  public var isUnknownLoop: Bool {
    if case .refused(400, let message) = self { message.contains("loop UUID") } else { false }
  }

  /// Whether the network may work all the same: the server or something before it answered, or the fault is this host's own.
  public var mayHaveNetwork: Bool {
    switch self {
    case .unreachable(_, let mayHaveNetwork, _), .noAnswer(_, let mayHaveNetwork): mayHaveNetwork
    case .tooManyRequests, .refused, .serverTrouble, .notTheServer, .unusableAnswer: true
    }
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
    case .unreachable(let reason, _, _), .noAnswer(let reason, _): "cannot reach the control server \(reason)"
    case .tooManyRequests: "the control server asks for fewer requests (429\(plan))"
    case .refused(let status, let message): "the control server refused (\(status)): \(message)"
    case .serverTrouble(let status, let message, _): "the control server is in trouble (\(status)\(plan)): \(message)"
    case .notTheServer(let status, let found):
      "no control server answered (\(status), \(found)): wrong control-server.url, or a captive portal"
    case .unusableAnswer(let reason): "the control server's answer cannot be used: \(reason)"
    }
  }
}

extension ServerFailure {
  /// The failure of a request that has no answer, in words for the operator.
  /// - Parameters:
  ///   - version: The only version of the internet protocol that the request may use.
  ///   - isBound: Whether it leaves by one interface: then the look-up of a name, which leaves by any, says nothing about its network.
  ///   - timeout: `control-server.request-timeout`.
  ///   - distrust: Why the server's certificate is not trusted; `nil` for other errors and when the reason is unknown.
  init(
    _ failure: FetchFailure, url: String, version: IPVersion? = nil, isBound: Bool = false, within timeout: Duration,
    distrust: String? = nil
  ) {
    let text = "\(Redaction.shown(url)): \(distrust ?? Self.reason(failure, url, version, within: timeout))"
    let unresolved: String? = if case .noAddress(let host) = failure.cause { host } else { nil }
    let isForeign = unresolved == nil ? failure.cause.mayHaveNetwork : isBound
    let mayHaveNetwork = isForeign && !Self.isOnThisHost(url)
    switch failure.cause {
    // It can come before the request's body has left.
    case .otherProtocol, .malformed: self = .unusableAnswer(text)
    default:
      self =
        failure.mayHaveArrived
        ? .noAnswer(text, mayHaveNetwork: mayHaveNetwork)
        : .unreachable(text, mayHaveNetwork: mayHaveNetwork, unresolved: unresolved)
    }
  }

  /// A server on this host, as in a trial, says nothing about the network: while it is gone, the trial is offline.
  private static func isOnThisHost(_ url: String) -> Bool {
    let host = URLComponents(string: url)?.host?.lowercased() ?? ""
    return host == "localhost" || host.hasPrefix("127.") || ["::1", "[::1]"].contains(host)
  }

  private static func reason(
    _ failure: FetchFailure, _ url: String, _ version: IPVersion?, within timeout: Duration
  ) -> String {
    switch failure.cause {
    case .timeout: "no answer within \(timeout)"
    case .cancelled: failure.mayHaveArrived ? "stopped before it answered" : "stopped before it was sent"
    case .noAddress(let host):
      version.map { "\(host) cannot be resolved to an \($0) address, and pings.ip-version is \($0.rawValue)" }
        ?? "the name \(host) cannot be resolved"
    case .interface(let name, let code): "cannot use interface \(name): \(String(cString: strerror(code)))"
    case .system(let code): String(cString: strerror(code))
    case .closed where url.lowercased().hasPrefix("http:"):
      "it closed the connection without an answer; if it expects TLS, control-server.url must be an https:// one"
    case .closed: "it closed the connection without an answer"
    case .brokenOff(let count, let whole):
      "the connection ended within its answer, after \(count)\(whole.map { " of \($0)" } ?? "") bytes of the body"
    case .untrusted:
      "its certificate is not trusted: it expired, or neither the system nor control-server.ca-file knows the authority "
        + "that issued it"
    case .otherName: "its certificate is for another name than the one in control-server.url"
    case .noTLS: "it does not speak TLS there; is control-server.url an http:// one?"
    case .tls(""): "it closed the connection during the TLS handshake"
    case .tls(let reason): "the TLS handshake failed (\(reason))"
    // The first byte of an alert or of a handshake in TLS.
    case .otherProtocol(let bytes) where bytes.first == 0x15 || bytes.first == 0x16:
      "it speaks TLS there; is control-server.url an https:// one?"
    case .otherProtocol(let bytes):
      "it does not speak HTTP there: its answer begins with \"\(ForeignText.clean(String(decoding: bytes, as: UTF8.self), limit: 40))\""
    case .refused(let reason): "the request cannot be sent: \(reason)"
    case .malformed(let reason): "its answer is no valid HTTP: \(ForeignText.clean(reason))"
    }
  }
}

/// Says why a certificate is not trusted, from the times of the certificates that the server presents: they show the difference
/// between an old certificate and an unknown authority, and a wrong clock of this host.
enum Distrust {
  /// - Returns: The reason in one line; `nil` when there is no certificate.
  static func reason(
    _ certificates: [(begin: String, end: String)],
    now: WallTime = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
  ) -> String? {
    guard let own = certificates.first else { return nil }
    let clock = "this host's clock says \(now.iso8601Seconds)"
    if let index = certificates.firstIndex(where: { time($0.end).map { $0 < now } ?? false }),
      let end = time(certificates[index].end)
    {
      let which = index == 0 ? "its certificate" : "the certificate of an intermediate authority"
      return "\(which) expired on \(end.iso8601Seconds); \(clock)"
    }
    if let begin = time(own.begin), begin > now {
      return "its certificate is not valid before \(begin.iso8601Seconds); \(clock)"
    }
    return
      "its certificate is not trusted: neither the system nor control-server.ca-file knows the authority that issued it"
  }

  /// `Feb  1 00:00:00 2020 GMT`.
  private static func time(_ text: String) -> WallTime? {
    let parts = text.split(separator: " ").map(String.init)
    guard parts.count == 5, parts[4] == "GMT" else { return nil }
    return HTTPDate.time(day: parts[1], month: parts[0], year: parts[3], clock: parts[2])
  }
}
