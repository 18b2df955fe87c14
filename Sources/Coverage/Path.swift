/// The kind of link that carries the pings. The raw values appear in drive logs.
public enum Path: String, Hashable, Sendable, CaseIterable {
  /// A cellular modem, or any link that is not Wi-Fi.
  case cellular
  /// Wi-Fi: nothing is measured on it.
  case wifi
  /// No route to the ping server.
  case offline = "none"
}
