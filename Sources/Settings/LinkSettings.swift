import Networking
import SystemServices

/// One of several links that are measured side by side, such as the modems of two operators: `links:` of the configuration.
public struct LinkSettings: Hashable, Sendable {
  /// In file names, listings and exports; `nil` when there is only one.
  public var name: String?
  /// The only interface for its pings; `nil`: the kernel's choice, which only a drive with one link may have.
  public var interface: String?
  /// Whether the link counts as cellular or Wi-Fi.
  public var network: PathSource
  /// Where its radio technology comes from.
  public var radio: RadioSource

  public init(name: String?, interface: String?, network: PathSource, radio: RadioSource) {
    (self.name, self.interface, self.network, self.radio) = (name, interface, network, radio)
  }

  /// `nil` for a text that the kernel does not accept as the name of an interface (`dev_valid_name`).
  static func interface(_ text: String) -> String? {
    guard (1...15).contains(text.utf8.count), text != ".", text != "..",
      !text.unicodeScalars.contains(where: { "/:\0".unicodeScalars.contains($0) || $0.properties.isWhitespace })
    else { return nil }
    return text
  }
}
