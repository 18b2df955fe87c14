import Foundation

/// One request over HTTP: by TCP, with TLS for `https`, or by a unix socket. Redirects are answers; nothing follows them.
public struct FetchRequest: Sendable {
  /// `http://` or `https://`; a user and a password in it are sent as Basic authentication.
  public var url: String
  /// The body of a POST; `nil` for a request without a body.
  public var body: [UInt8]?
  /// Whether a request without a body is a POST.
  public var isPost = false
  /// Control characters in names and values are refused.
  public var headers: [String: String] = [:]
  /// The time limit of everything, from resolving the name to the last byte of the answer. At least 1 ms.
  public var limit: Duration
  /// The time limit of the connection, with its name and TLS; `nil`: ``limit`` alone.
  public var connectionLimit: Duration?
  /// Bytes of a decoded body; a longer one is cut off, and its transfer ends.
  public var longestBody = 4 << 20
  /// Whether to ask for an answer that is compressed by gzip. An answer that is compressed all the same is decoded then, too.
  public var acceptsGzip = true
  /// Opens a new connection, and closes it afterwards.
  public var isFresh = false
  /// The interface that the connection is bound to; `nil`: any.
  public var interface: String?
  /// 4 or 6, the only version of the internet protocol to use; `nil`: either.
  public var ipVersion: Int?
  /// PEM certificates to trust instead of the system's; `nil`: the system's.
  public var authorities: Data?
  /// The path of a unix socket to connect to, instead of the URL's host.
  public var socketPath: String?
  /// Gets the body piece by piece, on the thread of the transfer; the answer's body is empty then.
  public var onBody: (@Sendable (UnsafeRawBufferPointer) -> Void)?
  /// Ends after the TLS handshake, without a check of the certificates, and reports them: ``FetchAnswer/certificates``.
  public var isInspection = false

  /// A GET of `url`.
  public init(url: String, limit: Duration) { (self.url, self.limit) = (url, limit) }
}
