/// The kind of link that carries the pings, as far as measuring depends on it. The raw values appear in drive logs.
public enum Path: String, Hashable, Sendable, CaseIterable {
  /// A link that is measured: a modem's, or one that the operator declared as a modem's.
  case cellular
  /// A link that is not measured: Wi-Fi, or any other link that is not known to be a modem's.
  case wifi
  /// No route to the ping server.
  case offline = "none"
}

/// A version of the internet protocol.
public enum IPVersion: Int, Hashable, Sendable, CustomStringConvertible {
  case ipv4 = 4
  case ipv6 = 6

  /// The other one.
  public var other: IPVersion { self == .ipv4 ? .ipv6 : .ipv4 }

  /// `IPv4` or `IPv6`.
  public var description: String { "IPv\(rawValue)" }
}
