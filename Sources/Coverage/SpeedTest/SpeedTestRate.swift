/// The result of one direction of a speed test.
public struct SpeedTestRate: Hashable, Sendable, Codable {
  /// kbit/s (1000 bit), rounded.
  public let kilobitsPerSecond: Int64
  /// Bytes of all connections at the common end.
  public let bytes: Int64
  /// The common end, ns since the start of the phase.
  public let nanoseconds: Int64
  /// The start of the phase, ns since the start of the test.
  public let began: Int64
  /// The connections that took part.
  public let connections: Int
  /// Each connection's curve: pairs of ns since the start of the phase and all bytes until then. Thinned out, but not around the common
  /// end, so that the result follows from it.
  public let curves: [[[Int64]]]

  /// A result with the given values.
  public init(
    kilobitsPerSecond: Int64, bytes: Int64, nanoseconds: Int64, began: Int64, connections: Int, curves: [[[Int64]]]
  ) {
    (self.kilobitsPerSecond, self.bytes, self.nanoseconds) = (kilobitsPerSecond, bytes, nanoseconds)
    (self.began, self.connections, self.curves) = (began, connections, curves)
  }
}
