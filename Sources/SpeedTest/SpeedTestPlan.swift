import Coverage

/// The parameters of a speed test, from the control server or the user. Numbers out of range are moved into their range when the
/// test runs.
public struct SpeedTestPlan: Hashable, Sendable {
  /// How the connection begins.
  public enum Opening: String, Hashable, Sendable, CaseIterable {
    /// The server speaks first (`RMBT`).
    case native
    /// An HTTP upgrade (`RMBThttp`).
    case http
  }

  /// A name or an address. The HTTP request has it, and so has SNI if it is a name.
  public let host: String
  public let port: UInt16
  /// The token that each connection sends.
  public let token: MeasurementToken
  public var opening = Opening.http
  public var isEncrypted = false
  /// How connections reach the server.
  public var access = TestAccess()
  /// Connections, 1 to 20, each with a thread. A slow link reduces them to one after the first pre-test.
  public var threads = 3
  /// Seconds of download and of upload, 1 to 30: the range of GETTIME.
  public var seconds = 7
  /// The least number of pings, 1 to 200. Pings go on for at least 1 s (``PingEnd``).
  public var pings = 10

  /// A plan with the values of docs/protocol.md, 7.5: `RMBThttp` without TLS, three connections, 7 s, ten pings.
  public init(host: String, port: UInt16, token: MeasurementToken) {
    (self.host, self.port, self.token) = (host, port, token)
  }

  /// ns of download and of upload.
  var duration: Int64 { Int64(min(max(seconds, 1), 30)) * 1_000_000_000 }
  var connections: Int { min(max(threads, 1), 20) }
}

/// How the connections of a test reach its servers.
public struct TestAccess: Hashable, Sendable {
  /// The network interface by which packets leave; `nil`: the routes decide. The control server must be asked by the same one (edge 8).
  public var interface: String?
  /// The version of the internet protocol, by which the control server must be asked, too (edge 8); `nil`: either. DNS resolvers have that of
  /// their objective.
  public var family: IPVersion?
  /// Whether a server's certificate must be valid for its name. TLS is there to pass middleboxes (docs/protocol.md, 7.1). Fetches of pages always
  /// check it.
  public var verifiesCertificate = true
  /// The PEM file of certificates to trust instead of the system's; not read without TLS.
  public var caFile: String?

  public init() {}
}

/// The token of a test, exactly as the control server issued it: one opaque text. Version 1 and 2 in it are never split, and
/// never encoded again (docs/protocol.md, edge 8). Each connection of the test sends the same token.
public struct MeasurementToken: Hashable, Sendable {
  /// The bytes that follow `TOKEN `: 1 to 1000 printable ASCII characters.
  public let text: String

  /// - Throws: ``SpeedTestError/unusableToken`` for a text that cannot be one argument of a line: empty, blanks, control
  ///   characters, other than ASCII, or more than 1000 bytes.
  public init(_ text: String) throws(SpeedTestError) {
    // With `TOKEN ` before it, the token has to fit into a line of 1023 bytes (docs/protocol.md, 7.2).
    guard (1...1000).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .unusableToken
    }
    self.text = text
  }
}
