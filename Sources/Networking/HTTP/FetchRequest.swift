import Coverage
import Foundation

/// One request over HTTP: by TCP, with TLS for `https`, or by a unix socket. Redirects are answers; nothing follows them.
public struct FetchRequest: Sendable {
  /// The connection of a request.
  public enum Connection: Hashable, Sendable {
    /// One of the pool, open for the next request.
    case kept
    /// A new one, closed afterwards, by this interface and version of the internet protocol; `nil`: any.
    case fresh(interface: String? = nil, version: IPVersion? = nil)
    /// A new one to the unix socket at this path, instead of the URL's host.
    case socket(path: String)
  }

  /// `http://` or `https://`; a user and a password in it are sent as Basic authentication.
  public var url: String
  /// The body of a POST, which can be empty; `nil` for a GET.
  public var body: [UInt8]?
  /// Control characters in names and values are refused.
  public var headers: [String: String] = [:]
  /// The time limit of everything, from resolving the name to the last byte of the answer. At least 1 ms.
  public var limit: Duration
  /// The time limit of the connection, with its name and TLS; `nil`: ``limit`` alone.
  public var connectionLimit: Duration?
  /// The time limit of looking up the name, of a fresh request by an ``interface``. No look-up can be bound to it: when this one fails or takes
  /// longer, the request goes to the address that answered last by the same interface. Where none has answered yet, and for `nil`, ``limit``
  /// alone ends the look-up, and the request with it.
  public var lookUpLimit: Duration?
  /// Bytes of a decoded body; a longer one is cut off, and its transfer ends.
  public var longestBody = 4 << 20
  /// Whether to ask for an answer that is compressed by gzip. An answer that is compressed all the same is decoded then, too.
  public var acceptsGzip = true
  public var connection = Connection.kept
  /// PEM certificates to trust instead of the system's; `nil`: the system's.
  public var authorities: Data?
  /// Gets the body piece by piece, on the thread of the transfer; the answer's body is empty then.
  public var onBody: (@Sendable (UnsafeRawBufferPointer) -> Void)?
  /// Ends after the TLS handshake, without a check of the certificates, and reports them: ``FetchAnswer/certificates``.
  public var isInspection = false

  /// A GET of `url`.
  public init(url: String, limit: Duration) { (self.url, self.limit) = (url, limit) }

  /// The only version of the internet protocol to use; `nil`: either.
  public var ipVersion: IPVersion? { if case .fresh(_, let version) = connection { version } else { nil } }
  /// The only interface to use; `nil`: any.
  public var interface: String? { if case .fresh(let interface, _) = connection { interface } else { nil } }
  var socketPath: String? { if case .socket(let path) = connection { path } else { nil } }
}

/// What a server answered.
public struct FetchAnswer: Sendable {
  /// 100 to 999.
  public internal(set) var status = 0
  /// In their order, as they came.
  public internal(set) var headers: [(name: String, value: String)] = []
  /// Decoded; at most ``FetchRequest/longestBody`` bytes.
  public internal(set) var body = Data()
  /// Whether the body was longer than ``FetchRequest/longestBody``.
  public internal(set) var isCutOff = false
  /// Bytes, without those of TLS.
  public internal(set) var traffic = Traffic()
  /// The certificates of an inspection, the server's own first, with their times as OpenSSL prints them: `Feb  1 00:00:00 2020 GMT`.
  public internal(set) var certificates: [(begin: String, end: String)] = []

  /// The value of the first header of this name, in upper or lower case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
  }

  /// The bytes of a transfer.
  public struct Traffic: Hashable, Sendable {
    /// Of the request.
    public internal(set) var sent = 0
    /// Of head and body, as they came.
    public internal(set) var received = 0

    /// Bytes of both directions.
    public init(sent: Int = 0, received: Int = 0) { (self.sent, self.received) = (sent, received) }
  }
}

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
    /// The connection ended without an answer.
    case closed
    /// The connection ended within the answer, after this many bytes of its body; `of`: its length, if its head has one.
    case brokenOff(after: Int, of: Int?)
    case untrusted
    /// The certificate is for another name.
    case otherName
    case noTLS
    /// Another failure of TLS, in OpenSSL's words.
    case tls(String)
    /// The answer is no HTTP; with its first bytes.
    case otherProtocol([UInt8])
    /// The answer is no valid HTTP, in libcurl's words.
    case malformed(String)
    /// The request cannot be sent: its URL or a header is not valid.
    case refused(String)

    /// Whether the network may work all the same: bytes or a refusal came back, or this host itself forbids the request.
    public var mayHaveNetwork: Bool {
      switch self {
      case .timeout, .cancelled, .noAddress: false
      case .system(let code), .interface(_, let code):
        [ECONNREFUSED, ECONNRESET, EPIPE, EACCES, EPERM, EINVAL].contains(code)
      case .closed, .brokenOff, .untrusted, .otherName, .noTLS, .tls, .otherProtocol, .malformed, .refused: true
      }
    }
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
