import Networking
import SystemServices
import Yams

/// Links in YAML: in the file below `links`, in the environment on one line.
enum LinkList {
  static let expectation =
    "a list of links, each { name: LETTERS, interface: NAME, radio: SOURCE, network: SOURCE }, no name or interface twice"

  /// - Throws: ``ListMistake``
  static func parse(_ node: Node) throws(ListMistake) -> [LinkSettings] {
    let links = try ListEntry.all(node, link)
    for (index, link) in links.enumerated() {
      if let earlier = links[..<index].firstIndex(where: { $0.name == link.name || $0.interface == link.interface }) {
        throw ListMistake("entry \(index + 1) has the name or the interface of entry \(earlier + 1)")
      }
    }
    return links
  }

  /// An interface is required: without one, two links would be the same.
  private static func link(_ node: Node) throws(ListMistake) -> LinkSettings {
    let entry = try ListEntry(node, keys: ["name", "interface", "radio", "network"], isPrivate: false)
    return LinkSettings(
      name: try entry.value("name", "1 to 32 letters, digits, - and _") { isName($0) ? $0 : nil },
      interface: try entry.value("interface", "the name of an interface", LinkSettings.interface),
      network: try entry.value(
        "network", "auto, fixed-cellular, fixed-wifi or file:PATH (without ~)", or: PathSource.auto
      ) { Setting.withoutTilde($0, PathSource.init) },
      radio: try entry.value(
        "radio", "none, auto, modem-manager, fixed:TECHNOLOGY (such as fixed:4G/LTE) or command:PATH (without ~)",
        or: RadioSource.none
      ) { Setting.withoutTilde($0, RadioSource.init) })
  }

  /// It becomes part of file names.
  private static func isName(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        $0 < 128 && (Character(UnicodeScalar($0)).isLetter || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F)
      }
  }
}
