import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

extension ServerFailure {
  /// The failure for `error`, an error of the libraries below, in words for the operator.
  /// - Parameter distrust: Why the server's certificate is not trusted; `nil` for other errors and when the reason is unknown.
  static func noAnswer(
    from url: String, _ error: any Error, within timeout: Duration, distrust: String? = nil
  ) -> ServerFailure {
    let text = "\(Redaction.shown(url)): \(distrust ?? reason(error, within: timeout))"
    return isBeforeTheRequest(error) ? .unreachable(text) : .noAnswer(text)
  }

  /// The failure of a request whose task was cancelled before a connection took the request.
  static func notSent(to url: String) -> ServerFailure {
    .unreachable("\(Redaction.shown(url)): stopped before it was sent")
  }

  /// Whether the error happened before a connection existed that could carry the request.
  private static func isBeforeTheRequest(_ error: any Error) -> Bool {
    switch error {
    case is NIOConnectionError, is NIOSSLExtraError, is BoundRequest.FamilyError: true
    case let error as HTTPClientError: error == .connectTimeout
    case let error as IOError: error.errnoCode == ECONNREFUSED
    case let error as NIOSSLError: if case .handshakeFailed = error { true } else { false }
    default: false
    }
  }

  private static func reason(_ error: any Error, within timeout: Duration) -> String {
    switch error {
    case is CancellationError: "stopped before it answered"
    case let error as HTTPClientError: reason(error, within: timeout)
    case let error as NIOConnectionError:
      error.connectionErrors.first.map { reason($0.error, within: timeout) } ?? "the name \(error.host) has no address"
    case ChannelError.connectTimeout: "no answer within \(timeout)"
    case ChannelError.eof: "it closed the connection without an answer"
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as NIOSSLError: reason(error)
    case is NIOSSLExtraError: "its certificate is for another name than the one in control-server.url"
    default: "\(error)"
    }
  }

  private static func reason(_ error: HTTPClientError, within timeout: Duration) -> String {
    switch error {
    case .connectTimeout, .deadlineExceeded, .readTimeout: "no answer within \(timeout)"
    case .remoteConnectionClosed: "it closed the connection without an answer"
    case .cancelled: "stopped before it answered"
    default: "\(error)"
    }
  }

  private static func reason(_ error: NIOSSLError) -> String {
    guard case .handshakeFailed(let cause) = error else { return "TLS failed: \(error)" }
    let text = "\(cause)"
    if text.contains("CERTIFICATE_VERIFY_FAILED") {
      return "its certificate is not trusted: it expired, or neither the system nor control-server.ca-file knows the "
        + "authority that issued it"
    }
    if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
      return "it does not speak TLS there; is control-server.url an http:// one?"
    }
    if text.contains("EOF") { return "it closed the connection during the TLS handshake" }
    // BoringSSL's own name of the error; the text around it does not help an operator.
    let words: [Substring] = text.split { !($0.isUppercase || $0.isNumber || $0 == "_") }
    let name = words.filter { $0.contains("_") }.max { $0.count < $1.count }
    return "the TLS handshake failed\(name.map { " (\($0))" } ?? "")"
  }
}
