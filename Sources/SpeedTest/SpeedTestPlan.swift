/// The parameters of a speed test, from the control server or the user.
public struct SpeedTestPlan: Hashable, Sendable {
  /// How the connection begins.
  public enum Opening: String, Hashable, Sendable, CaseIterable {
    /// The server speaks first (`RMBT`).
    case native
    /// An HTTP upgrade (`RMBThttp`).
    case http
  }

  /// The version of the internet protocol; the control server must be asked by the same one (edge 8).
  public enum Family: String, Hashable, Sendable, CaseIterable {
    case any, ipv4, ipv6
  }

  /// A name or an address.
  public let host: String
  /// The TCP port.
  public let port: UInt16
  /// Sent by each connection.
  public let token: MeasurementToken
  /// How a connection begins.
  public var opening = Opening.http
  /// Whether connections use TLS.
  public var isEncrypted = false
  /// Whether the server's certificate must be valid for the name. The specification asks for TLS to pass middleboxes only.
  public var verifiesCertificate = true
  /// The file of certificates to trust instead of the system's.
  public var caFile: String?
  /// The version of the internet protocol.
  public var family = Family.any
  /// The network interface by which connections leave; `nil`: any. The control server must be asked by the same one (edge 8).
  public var interface: String?
  /// Connections, 1 to 20. A slow link reduces them to one.
  public var threads = 3
  /// Seconds of each main phase, 1 to 30.
  public var seconds = 7
  /// The least number of pings.
  public var pings = 10

  /// A plan with the specification's values.
  public init(host: String, port: UInt16, token: MeasurementToken) {
    (self.host, self.port, self.token) = (host, port, token)
  }

  var duration: Int64 { Int64(min(max(seconds, 1), 30)) * 1_000_000_000 }
  var connections: Int { min(max(threads, 1), 20) }
}
