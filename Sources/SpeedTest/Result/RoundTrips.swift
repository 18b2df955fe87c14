import Coverage

/// The pings of a test: when enough were sent, and their figures (docs/protocol.md, 7.5, step 3).
public struct RoundTrips: Hashable, Sendable {
  /// A ping of the test: PING, PONG, OK, TIME.
  public struct Ping: Hashable, Sendable {
    /// ns from before PING was written until PONG was read; OK is not in it (edge 23).
    public let client: Int64
    /// ns from PONG to OK, as the server measured.
    public let server: Int64
    /// ns since the start of the test.
    public let offset: Int64

    /// The figures of a ping.
    public init(client: Int64, server: Int64, offset: Int64) {
      (self.client, self.server, self.offset) = (client, server, offset)
    }
  }

  /// All pings in order.
  public private(set) var pings: [Ping] = []
  /// The number of pings before which ``isEnough(elapsed:)`` is false.
  private let least: Int
  /// ns: at least 1 s, at most 200 pings (docs/protocol.md, 7.5).
  private static let leastTime: Int64 = 1_000_000_000
  private static let most = 200

  /// - Parameter least: The least number of pings, 1 to 200.
  public init(least: Int = 10) { self.least = min(max(least, 1), Self.most) }

  /// Appends a ping.
  public mutating func append(_ ping: Ping) { pings.append(ping) }

  /// Whether the least number and 1 s are both reached, or 200 pings are.
  /// - Parameter elapsed: ns since the first PING.
  public func isEnough(elapsed: Int64) -> Bool {
    pings.count >= Self.most || (pings.count >= least && elapsed >= Self.leastTime)
  }

  /// The median of the server's values in ns; of an even number, the mean of the two in the middle. `nil` without a ping.
  public var median: Int64? { pings.map(\.server).median }
}
