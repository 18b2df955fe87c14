/// A ping of a speed test.
public struct SpeedTestPing: Hashable, Sendable, Codable {
  /// ns from before PING was written until PONG was read.
  public let client: Int64
  /// ns from PONG to OK, as the server measured.
  public let server: Int64
  /// ns since the start of the test.
  public let offset: Int64

  /// A ping.
  public init(client: Int64, server: Int64, offset: Int64) {
    (self.client, self.server, self.offset) = (client, server, offset)
  }
}
