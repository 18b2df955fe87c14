/// The state of a target at one moment.
public struct PingTargetState: Hashable, Sendable {
  /// UDP: the local port. ICMP: the echo identifier.
  public let localPort: UInt16
  /// The number of pings so far, including those that were not sent.
  public let slots: UInt64
  /// The number of pings without a verdict.
  public let underWay: UInt64
}
