/// The figures of a full speed test: what is stored, sent to the control server and exported. Its coded form is stored and read by later
/// builds.
public struct SpeedTestFigures: Hashable, Sendable, Codable {
  /// The measurement server, as it was addressed: a name or an address.
  public var server: String
  /// Its TCP port.
  public var port: UInt16
  /// The name that the control server gives it.
  public var serverName: String?
  /// The version in its greeting.
  public var serverVersion = ""
  /// `RMBT` or `RMBThttp`.
  public var kind: String
  /// The version of TLS and the cipher; `nil` for plain TCP.
  public var encryption: String?
  /// The address of this device, and of the server, as the connection had them.
  public var localAddress: String?
  /// The address of the server.
  public var serverAddress: String?
  /// The download; `nil` when it has no figure.
  public var download: SpeedTestRate?
  /// The upload; `nil` when it has no figure.
  public var upload: SpeedTestRate?
  /// The pings in order.
  public var pings: [SpeedTestPing] = []
  /// Whether the pre-test found a link too slow for several connections.
  public var fellBackToOne = false
  /// Bytes received and sent, pre-tests included.
  public var traffic = SpeedTestTraffic()
  /// Positions during the test, oldest first.
  public var places: [SpeedTestPlace] = []
  /// The modem's operator code, five or six digits.
  public var operatorCode: String?
  /// The modem's operator name.
  public var operatorName: String?
  /// The code of the operator that issued the SIM, five or six digits.
  public var simOperatorCode: String?
  /// The name of the operator that issued the SIM.
  public var simOperatorName: String?
  /// Whether the modem was roaming; `nil` when it is not known.
  public var isRoaming: Bool?
  /// The serving cell.
  public var cell: RadioCell?
  /// The level of the signal in dBm.
  public var signal: Double?
  /// The links that carried the test, in order: more than one when the link changed. `nil` when they are not known: an earlier build stored
  /// none.
  public var links: [SpeedTestLink]?
  /// Delay of the coverage pings just before the test, and during its parts.
  public var delays: [SpeedTestDelay] = []

  /// Figures of a test against this server, without any result.
  public init(server: String, port: UInt16, kind: String) {
    (self.server, self.port, self.kind) = (server, port, kind)
  }

  /// Whether ping, download and upload all have a figure above 0; without them, a control server refuses the result (docs/protocol.md, 6.2).
  public var isComplete: Bool {
    (shortestClientPing ?? 0) > 0 && (download?.kilobitsPerSecond ?? 0) > 0 && (upload?.kilobitsPerSecond ?? 0) > 0
  }

  /// Whether the download or the upload was interrupted.
  public var isInterrupted: Bool { download?.isInterrupted == true || upload?.isInterrupted == true }

  /// The client's least value of the pings in ns, `test_ping_shortest` of the wire; `nil` without a ping.
  public var shortestClientPing: Int64? { pings.map(\.client).min() }

  /// The least of the server's values in ns, of the same series as ``medianPing``; `nil` without a ping.
  public var shortestPing: Int64? { pings.map(\.server).min() }

  /// The median of the server's values in ns; of an even number, the mean of the two in the middle. `nil` without a ping.
  public var medianPing: Int64? { pings.map(\.server).median }
}
