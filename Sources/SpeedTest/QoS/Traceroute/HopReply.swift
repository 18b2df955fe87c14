import Pinging

/// The reply to a packet with a limited number of hops.
enum HopReply: Hashable, Sendable {
  /// A router on the way dropped it.
  case router
  /// The destination answered.
  case destination
  /// A router or the destination reports that the packet can go no further.
  case unreachable

  /// `nil` for an event that is no reply.
  /// - Parameter isOfDestination: Whether the destination itself sent it.
  init?(_ kind: PingEvent.Kind, family: PingAddress.Family, isOfDestination: Bool) {
    // Time exceeded, and port unreachable, which the destination of a UDP packet sends (RFC 792, RFC 4443).
    let (exceeded, closedPort): (UInt8, (UInt8, UInt8)) = family == .ipv4 ? (11, (3, 3)) : (3, (1, 4))
    switch kind {
    case .answered, .refused: self = .destination
    case .icmpError(exceeded, _): self = .router
    case .icmpError(closedPort.0, closedPort.1) where isOfDestination: self = .destination
    case .icmpError: self = .unreachable
    default: return nil
    }
  }
}
