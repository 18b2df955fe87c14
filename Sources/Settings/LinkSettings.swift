import NetworkPath

/// One of several links that are measured side by side, such as the modems of two operators: `links:` of the configuration.
public struct LinkSettings: Hashable, Sendable {
  /// In file names, listings and exports; `nil` when there is only one.
  public var name: String?
  /// Its pings leave by this interface or not at all.
  public var interface: String?
  public var network: PathSource
  public var radio: RadioSource

  public init(name: String?, interface: String?, network: PathSource, radio: RadioSource) {
    (self.name, self.interface, self.network, self.radio) = (name, interface, network, radio)
  }

  /// `nil` for what the kernel takes for no name of an interface (`dev_valid_name`).
  static func interface(_ text: String) -> String? {
    guard (1...15).contains(text.utf8.count), text != ".", text != "..",
      !text.contains(where: { $0 == "/" || $0 == ":" || $0.isWhitespace })
    else { return nil }
    return text
  }
}
