/// Why a speed test, or one of its connections, failed.
public enum SpeedTestError: Error, Hashable, Sendable {
  /// The server's name has no address of the wanted family.
  case unresolved(String)
  /// No connection; the text is the system's.
  case unreachable(String)
  /// The connection ended before the greeting, or in the middle of a command.
  case closed
  /// No byte came, or none could be sent, within the time limit.
  case timeout(String)
  /// TLS failed; the text is OpenSSL's.
  case tls(String)
  /// The server answered the TLS handshake with another protocol.
  case noTLS
  /// The server did not switch protocols.
  case upgradeRefused(String)
  /// The server refused the token, or closed instead of an answer to it.
  case tokenRefused
  /// The server said ERR to a command.
  case commandRefused(String)
  /// The server's bytes break the protocol.
  case protocolError(String)
  /// The text cannot be a token.
  case unusableToken
  /// The test was aborted from outside.
  case aborted
}

extension SpeedTestError: CustomStringConvertible {
  /// One line: what happened and, where it helps, what to do.
  public var description: String {
    switch self {
    case .unresolved(let name): "the name \(name) has no address"
    case .unreachable(let reason): "no connection: \(reason)"
    case .closed: "the server closed the connection"
    case .timeout(let what): "time limit reached: \(what)"
    case .tls(let reason): "TLS failed: \(reason)"
    case .noTLS: "TLS failed: the server does not use TLS on this port"
    case .upgradeRefused(let status): "the server did not switch to RMBT (\(status)); try another --protocol"
    case .tokenRefused: "the server refused the token: check it, its age (90 s) and the source address"
    case .commandRefused(let command): "the server refused \(command)"
    case .protocolError(let reason): "the server broke the protocol: \(reason)"
    case .unusableToken: "the token has no bytes, has blanks or control characters, or is longer than 1000 bytes"
    case .aborted: "aborted"
    }
  }
}
