import Coverage
import Foundation
import Networking

extension ServerFailure {
  /// The failure of a request that has no answer, in words for the operator.
  /// - Parameters:
  ///   - version: The only version of the internet protocol that the request may use.
  ///   - timeout: `control-server.request-timeout`.
  ///   - distrust: Why the server's certificate is not trusted; `nil` for other errors and when the reason is unknown.
  init(_ failure: FetchFailure, url: String, version: Int? = nil, within timeout: Duration, distrust: String? = nil) {
    let text = "\(Redaction.shown(url)): \(distrust ?? Self.reason(failure, url, version, within: timeout))"
    switch failure.cause {
    // It can come before the request's body has left.
    case .otherProtocol, .malformed: self = .unusableAnswer(text)
    default: self = failure.mayHaveArrived ? .noAnswer(text) : .unreachable(text)
    }
  }

  private static func reason(
    _ failure: FetchFailure, _ url: String, _ version: Int?, within timeout: Duration
  ) -> String {
    switch failure.cause {
    case .timeout: "no answer within \(timeout)"
    case .cancelled: failure.mayHaveArrived ? "stopped before it answered" : "stopped before it was sent"
    case .noAddress(let host):
      version.map { "\(host) cannot be resolved to an IPv\($0) address, and pings.ip-version is \($0)" }
        ?? "the name \(host) cannot be resolved"
    case .interface(let name, let code): "cannot use interface \(name): \(String(cString: strerror(code)))"
    case .system(let code): String(cString: strerror(code))
    case .closed where url.lowercased().hasPrefix("http:"):
      "it closed the connection without an answer; if it expects TLS, control-server.url must be an https:// one"
    case .closed: "it closed the connection without an answer"
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
