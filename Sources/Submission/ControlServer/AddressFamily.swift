/// A version of the internet protocol.
public enum AddressFamily: Int, Hashable, Sendable, CustomStringConvertible {
  case ipv4 = 4
  case ipv6 = 6

  /// `IPv4` or `IPv6`.
  public var description: String { "IPv\(rawValue)" }
}
