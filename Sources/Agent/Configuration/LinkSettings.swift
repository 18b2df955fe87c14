import NetworkPath
import Yams

/// One of several links that are measured side by side, such as the modems of two operators: `links:` of the configuration.
public struct LinkSettings: Hashable, Sendable {
  /// In file names, listings and exports; `nil` when there is only one.
  public var name: String?
  /// Its pings leave by this interface or not at all.
  public var interface: String?
  public var network: PathSource
  public var radio: RadioSource

  /// `nil` for what the kernel takes for no name of an interface (`dev_valid_name`).
  static func interface(_ text: String) -> String? {
    guard (1...15).contains(text.utf8.count), text != ".", text != "..",
      !text.contains(where: { $0 == "/" || $0 == ":" || $0.isWhitespace })
    else { return nil }
    return text
  }
}

/// A list of links as it is written in YAML: in the file below `links`, in the environment on one line.
enum LinkList {
  static let expectation =
    "a list of links, each { name: LETTERS, interface: NAME, radio: SOURCE, network: SOURCE }, no name or interface twice"

  /// `nil` for anything else, an unknown key included.
  static func parse(_ node: Node) -> [LinkSettings]? {
    guard let entries = node.sequence else { return nil }
    let links = entries.compactMap(link)
    guard links.count == entries.count, Set(links.map(\.name)).count == links.count,
      Set(links.map(\.interface)).count == links.count
    else { return nil }
    return links
  }

  /// An interface is required: without one, two links would be the same.
  private static func link(_ node: Node) -> LinkSettings? {
    guard let mapping = node.mapping, let name = mapping["name"]?.string, isName(name),
      let interface = mapping["interface"]?.string.flatMap(LinkSettings.interface),
      mapping.keys.allSatisfy({ ["name", "interface", "radio", "network"].contains($0.string) }),
      let radio = RadioSource(mapping["radio"]?.string ?? "none"),
      let network = PathSource(mapping["network"]?.string ?? "auto")
    else { return nil }
    return LinkSettings(name: name, interface: interface, network: network, radio: radio)
  }

  /// It becomes part of file names.
  private static func isName(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        $0 < 128 && (Character(UnicodeScalar($0)).isLetter || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F)
      }
  }
}
