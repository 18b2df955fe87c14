import Coverage

/// Where the radio technology comes from: `radio.source` of the configuration.
public enum RadioSource: Hashable, Sendable {
  case none
  case fixed(Technology)
  /// A program that prints a technology a line, whenever it changes.
  case command(String)

  public init?(_ text: String) {
    if text == "none" {
      self = .none
    } else if text.hasPrefix("fixed:"), Technology(String(text.dropFirst(6))).isKnown {
      self = .fixed(Technology(String(text.dropFirst(6))))
    } else if text.hasPrefix("command:"), text.count > 8 {
      self = .command(String(text.dropFirst(8)))
    } else {
      return nil
    }
  }
}
