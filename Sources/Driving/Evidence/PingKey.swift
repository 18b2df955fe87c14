/// The values of a ping's packets that identify the ping on the wire.
public struct PingKey: Hashable, Sendable {
  /// The address that is pinged.
  public let remote: IPAddress
  /// The UDP port of ``remote``; `nil` for ICMP.
  public let port: UInt16?
  /// The local UDP port, or the echo identifier.
  public let local: UInt16
  /// RTR: the sequence number on the wire. ICMP: the 32 bits of it that CPinger writes into the payload.
  public let sequence: UInt32
  /// ICMP: the first 8 bytes of the payload.
  var token: UInt64 = 0
  /// ICMP: the 16 bits of the sequence number in the header.
  var wireSequence: UInt16 = 0
}
