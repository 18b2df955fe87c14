/// Bytes of a speed test on its connections, without those that TLS adds: all phases.
public struct SpeedTestTraffic: Hashable, Sendable, Codable {
  /// Bytes received.
  public var received: Int64 = 0
  /// Bytes sent.
  public var sent: Int64 = 0

  /// No bytes.
  public init() {}

  /// - Parameters:
  ///   - received: Bytes received.
  ///   - sent: Bytes sent.
  public init(received: Int64, sent: Int64) { (self.received, self.sent) = (received, sent) }

  /// The bytes of both.
  public func adding(_ other: SpeedTestTraffic) -> SpeedTestTraffic {
    SpeedTestTraffic(
      received: received.saturatingAdding(other.received), sent: sent.saturatingAdding(other.sent))
  }

  /// Both directions.
  public var total: Int64 { received.saturatingAdding(sent) }
}
