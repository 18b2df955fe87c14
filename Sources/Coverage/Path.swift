/// The kind of link that carries the pings, as far as measuring depends on it. The raw values appear in drive logs.
public enum Path: String, Hashable, Sendable, CaseIterable {
  /// A link that is measured: a modem's, or one that the operator declared as a modem's.
  case cellular
  /// A link that is not measured: Wi-Fi, or any other link that is not known to be a modem's.
  case wifi
  /// No route to the ping server.
  case offline = "none"
}
