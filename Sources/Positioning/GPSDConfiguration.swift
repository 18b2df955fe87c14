/// The address of gpsd, and the settings of the client.
public struct GPSDConfiguration: Hashable, Sendable {
  /// A host name or address. All addresses of both families are tried.
  public var host: String
  /// TCP port, 1 to 65535.
  public var port: Int
  /// gpsd's path of the receiver to use; `nil`: the first one with a fix, until it is stale or another is clearly better.
  public var device: String?
  /// The position is lost after this time without a usable report, or after two cycles of the receiver if that is longer.
  public var staleAfter: Duration
  /// Positions that cannot be reached at this speed, in metres a second, above 0, are refused; `nil`: none are.
  public var maximumSpeed: Double?
  /// A speed above this, in metres a second, is left out of its fix: gpsd derives speeds from jumps of the position. `nil`: no limit.
  public var speedLimit: Double?

  /// A configuration with the given values.
  public init(
    host: String = "127.0.0.1", port: Int = 2947, device: String? = nil, staleAfter: Duration = .seconds(5),
    maximumSpeed: Double? = nil, speedLimit: Double? = nil
  ) {
    self.host = host
    self.port = port
    self.device = device
    self.staleAfter = staleAfter
    self.maximumSpeed = maximumSpeed
    self.speedLimit = speedLimit
  }

  /// Whether the server is on this host, by its name or address.
  var isLocal: Bool {
    let name = host.lowercased()
    let isFourParts = name.split(separator: ".", omittingEmptySubsequences: false).count == 4
    return (name.hasPrefix("127.") && isFourParts)
      || ["localhost", "::1", "[::1]", "::ffff:127.0.0.1"].contains(name)
  }
}
