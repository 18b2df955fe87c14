/// A ping that the kernel did not send: is it a sign of missing coverage, or a fault of this host? A pure value (docs/algorithm.md, 4.1).
///
/// The reference app sends pings without a network, and counts them as lost: a device without service makes grey fences. A host that cannot
/// send for another reason knows nothing about coverage.
public struct UnsentPing: Hashable, Sendable {
  /// What the kernel's refusal is about.
  public enum Refusal: Hashable, Sendable {
    /// There is no way to the host: no route, no interface, no source address.
    case noWay
    /// The queue of the link, or of the socket, is full: the link takes no packets.
    case full
    /// This host itself: its firewall, its memory, its settings.
    case host
  }

  /// What the kernel's refusal is about.
  public let refusal: Refusal
  /// Why there is no way, as the routing table shows it; `nil` when it shows a way.
  public let noWay: NoWay?
  /// Whether the link's modem has service; `nil` when no modem says so.
  public let hasService: Bool?

  /// - Parameters:
  ///   - refusal: What the kernel's refusal is about.
  ///   - noWay: Why there is no way; `nil` when the routing table shows one.
  ///   - hasService: Whether the link's modem has service; `nil` when no modem says so.
  public init(_ refusal: Refusal, noWay: NoWay?, hasService: Bool?) {
    (self.refusal, self.noWay, self.hasService) = (refusal, noWay, hasService)
  }

  /// Whether the network is missing, so that the ping counts as lost; else the host could not measure.
  public var isLost: Bool {
    switch refusal {
    case .host: return false
    case .full: return hasService == false
    case .noWay:
      if hasService == false { return true }
      switch noWay {
      case .noRoute?, .noInterface(isDialled: true)?: return true
      case .noInterface?, .deadEnd?, .otherFamily?, .forbidden?, .unknown?, nil: return false
      }
    }
  }

  /// The outcome of the ping.
  public var outcome: PingOutcome { isLost ? .failed(.network) : .unsent() }
}

/// Why packets have no way to a host.
public enum NoWay: Hashable, Sendable {
  /// The link is down, or there is no route of either IP version.
  case noRoute
  /// There is a route for the other IP version only.
  case otherFamily
  /// The interface does not exist. `isDialled`: it exists only while its modem is connected.
  case noInterface(isDialled: Bool)
  /// The link has nothing behind it on this host: a tun device that no program has open, a bridge without a port. The kernel takes packets
  /// for it, and drops them.
  case deadEnd
  /// A rule of this host forbids the packets: a route of type prohibit or blackhole.
  case forbidden
  /// The kernel cannot look up the route.
  case unknown

  /// Why the network does not carry packets to `host`, a numeric address: it has the other IP version only.
  public static func otherFamily(than host: String) -> String {
    let (wanted, present) = host.contains(":") ? ("IPv6", "IPv4") : ("IPv4", "IPv6")
    return "\(host) is an \(wanted) address, and this network has \(present) only"
  }
}
