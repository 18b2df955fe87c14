import Coverage
import Foundation

/// Classifies an HTTP answer. Only 2xx with a JSON object without `error` entries is a success (docs/protocol.md, 3.1).
enum ServerAnswer {
  /// The body of a successful answer.
  /// - Parameter clientUUID: The client UUID in the request; it is redacted in failures.
  static func body(
    status: Int, retryAfter: Duration?, body: Data, isCutOff: Bool = false, clientUUID: String? = nil
  ) throws(ServerFailure) -> Data {
    let redaction = Redaction(clientUUID: clientUUID)
    let object = isCutOff ? nil : (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    let errors = (object?["error"].map(messages) ?? []).map { ForeignText.clean(redaction.apply(to: $0)) }
    var found: String {
      (isCutOff ? "an answer of more than \(body.count >> 20) MiB, " : "") + describe(body, redaction)
    }
    switch status {
    case 200..<300:
      guard object != nil else { throw .notTheServer(status: status, found: found) }
      guard errors.isEmpty else { throw .refused(status: status, message: errors.joined(separator: "; ")) }
      return body
    case 429: throw .tooManyRequests(retryAfter: retryAfter)
    case 300..<400: throw .notTheServer(status: status, found: "a redirect")
    // A captive portal says so (RFC 6585, 6).
    case 511: throw .notTheServer(status: status, found: found)
    case 500...: throw .serverTrouble(status: status, message: errors.first ?? found, retryAfter: retryAfter)
    case 400 where expectsTLS(body):
      throw .notTheServer(
        status: status, found: "a server that expects TLS: control-server.url must be an https:// one")
    default: throw .refused(status: status, message: errors.first ?? found)
    }
  }

  /// Whether the body is what nginx, Apache, Go and Tomcat send after a request without TLS to a port of TLS.
  private static func expectsTLS(_ body: Data) -> Bool {
    let text = String(decoding: body.prefix(4096), as: UTF8.self)
    return ["sent to HTTPS port", "SSL-enabled server port", "HTTP request to an HTTPS server", "requires TLS"]
      .contains(where: text.contains)
  }

  private static func messages(_ value: Any) -> [String] {
    switch value {
    case let list as [Any]: list.map(text(of:))
    case let text as String: text.isEmpty ? [] : [text]
    case is NSNull: []
    default: [text(of: value)]
    }
  }

  /// An entry in the server's own words: a text, or the JSON of another value.
  private static func text(of value: Any) -> String {
    if let text = value as? String { return text }
    let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
    let json = try? JSONSerialization.data(withJSONObject: value, options: options)
    return json.map { String(decoding: $0, as: UTF8.self) } ?? "an entry that is no text"
  }

  private static func describe(_ body: Data, _ redaction: Redaction) -> String {
    if body.isEmpty { return "an empty body" }
    // Redact before cutting: a secret that is cut in half would not be recognised.
    let start = ForeignText.clean(redaction.apply(to: String(decoding: body.prefix(4096), as: UTF8.self)), limit: 60)
    return "a body that begins with \"\(start.split(whereSeparator: \.isWhitespace).joined(separator: " "))\""
  }
}
