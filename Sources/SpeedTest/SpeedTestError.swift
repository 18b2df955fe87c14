import Pinging

/// Why a speed test, a QoS test, or one of their connections failed.
public enum SpeedTestError: Error, Hashable, Sendable {
  /// The name has no address of the wanted family, or no name server answered.
  case unresolved(NameError)
  /// No connection, or a socket call failed on it. The text is that of the system, or of the HTTP client.
  case unreachable(String)
  /// The connection ended before the greeting, or in the middle of a command. A fresh connection is opened again after it
  /// (``OpeningRetry``).
  case closed
  /// A time limit passed; the text names the wait. QoS tests report it as TIMEOUT.
  case timeout(String)
  /// TLS failed, or the file of certificates cannot be read.
  case tls(String)
  /// The server's certificate is not valid; the text is OpenSSL's reason.
  case untrusted(String)
  /// The server answered the TLS handshake with another protocol. ``QoSEncryption/auto`` then connects without TLS.
  case noTLS
  /// The server did not answer the HTTP upgrade with 101; the text is its status line.
  case upgradeRefused(String)
  /// The server refused the token, or closed instead of an answer to it.
  case tokenRefused
  /// The server said ERR to a command, does not list it in ACCEPT, or gave another reply than the command has.
  case commandRefused(String)
  /// The bytes of the server break the protocol, or the parameters of a QoS test cannot be used.
  case protocolError(String)
  /// The text cannot be a token (``MeasurementToken``).
  case unusableToken
  /// A main phase had no byte, though connections lasted to its end; the text names the phase.
  case silence(String)
  /// The test was aborted from outside.
  case aborted
}

extension SpeedTestError: CustomStringConvertible {
  /// One line for the operator: the failure and, where it helps, the remedy, with settings by their names.
  public var description: String {
    switch self {
    case .unresolved(let error): "\(error)"
    case .unreachable(let reason): "no connection: \(reason)"
    case .closed: "the server closed the connection"
    case .timeout(let what): "time limit reached: \(what)"
    case .tls(let reason): "TLS failed: \(reason)"
    case .untrusted(let reason):
      "TLS failed: \(reason); see speedtest.verify-certificate and control-server.ca-file"
    case .noTLS: "TLS failed: the server does not use TLS on this port"
    case .upgradeRefused(let status): "the server did not switch to RMBT (\(status))"
    case .tokenRefused: "the server refused the token: check it, its age (90 s) and the source address"
    case .commandRefused(let command): "the server refused \(command)"
    case .protocolError(let reason): "the server broke the protocol: \(reason)"
    case .unusableToken: "the token has no bytes, has blanks or control characters, or is longer than 1000 bytes"
    case .silence(let reason): reason
    case .aborted: "aborted"
    }
  }
}
