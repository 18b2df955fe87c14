import Coverage

/// Where the radio technology comes from: `radio.source` of the configuration.
public enum RadioSource: Hashable, Sendable {
  /// The technology is unknown.
  case none
  /// ModemManager where it is on the system bus, else as ``none``.
  case auto
  /// ModemManager, over D-Bus.
  case modemManager
  /// Always the same technology, without signal and cell.
  case fixed(Technology)
  /// The path of a program that prints a line at each change (``RadioLine``).
  case command(String)

  /// Reads `none`, `auto`, `modem-manager` (or `modemmanager`), `fixed:NAME` with a known technology, or `command:PATH`;
  /// `nil` for other text. It does not check that the program is there.
  public init?(_ text: String) {
    if let plain = Self.plain[text] {
      self = plain
    } else if text.hasPrefix("fixed:"), Technology(String(text.dropFirst(6))).isKnown {
      self = .fixed(Technology(String(text.dropFirst(6))))
    } else if text.hasPrefix("command:"), text.count > 8 {
      self = .command(String(text.dropFirst(8)))
    } else {
      return nil
    }
  }

  private static let plain: [String: RadioSource] = [
    "none": .none, "auto": .auto, "modem-manager": .modemManager, "modemmanager": .modemManager,
  ]
}
