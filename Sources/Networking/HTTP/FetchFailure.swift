/// Why there is no answer.
public struct FetchFailure: Error, Hashable, Sendable {
  /// What went wrong.
  public enum Cause: Hashable, Sendable {
    case timeout
    case cancelled
    /// The name cannot be resolved now, or has no address of the version that the request asks for.
    case noAddress(host: String)
    /// The interface cannot be used, with errno.
    case interface(String, CInt)
    /// The kernel's reason, errno.
    case system(CInt)
    /// The connection ended without an answer, or within it.
    case closed
    /// The certificate is not trusted.
    case untrusted
    /// The certificate is for another name.
    case otherName
    /// The server does not speak TLS.
    case noTLS
    /// Another failure of TLS, in OpenSSL's words.
    case tls(String)
    /// The answer is no HTTP; with its first bytes.
    case otherProtocol([UInt8])
    /// The answer is no valid HTTP, in libcurl's words.
    case malformed(String)
    /// The request cannot be sent: its URL or a header is not valid.
    case refused(String)
  }

  /// What went wrong.
  public let cause: Cause
  /// Whether the server may have the request: its body, or the head of one without a body, has begun to leave.
  public let mayHaveArrived: Bool
  /// What was sent and received until then.
  public let traffic: FetchAnswer.Traffic

  /// A failure with all its parts.
  public init(_ cause: Cause, mayHaveArrived: Bool = false, traffic: FetchAnswer.Traffic = FetchAnswer.Traffic()) {
    (self.cause, self.mayHaveArrived, self.traffic) = (cause, mayHaveArrived, traffic)
  }
}
