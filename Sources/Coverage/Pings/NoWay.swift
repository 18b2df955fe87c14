/// Why packets have no way to a host.
public enum NoWay: Hashable, Sendable {
  /// The link is down, or there is no route of either IP version.
  case noRoute
  /// There is a route for the other IP version only.
  case otherFamily
  /// The interface does not exist. `isDialled`: it exists only while its modem is connected.
  case noInterface(isDialled: Bool)
  /// The kernel cannot look up the route.
  case unknown

  /// Why the network does not carry packets to `host`, a numeric address: it has the other IP version only.
  public static func otherFamily(than host: String) -> String {
    let (wanted, present) = host.contains(":") ? ("IPv6", "IPv4") : ("IPv4", "IPv6")
    return "\(host) is an \(wanted) address, and this network has \(present) only"
  }
}
