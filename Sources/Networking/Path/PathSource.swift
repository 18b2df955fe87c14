import Coverage

/// Where the kind of the link comes from: `network.source` of the configuration.
public enum PathSource: Hashable, Sendable {
  /// From the routing table and the kind of the interface that carries the pings.
  case auto
  /// Always the same kind.
  case fixed(Path)
  /// From the last line of the file at this path: cellular, wifi or none.
  case file(String)

  /// Reads `auto`, `fixed-cellular`, `fixed-wifi` or `file:PATH`; `nil` for other text.
  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "fixed-cellular": self = .fixed(.cellular)
    case "fixed-wifi": self = .fixed(.wifi)
    default:
      guard text.hasPrefix("file:"), text.count > 5 else { return nil }
      self = .file(String(text.dropFirst(5)))
    }
  }
}
