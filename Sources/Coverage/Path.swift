/// What kind of link carries the pings.
public enum Path: String, Hashable, Sendable, CaseIterable {
  case cellular
  case wifi
  /// No route at all.
  case offline = "none"
}
