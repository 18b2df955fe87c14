import Coverage
import Networking
import SystemServices
import Yams

/// One entry of a list: a group of keys. Its mistakes repeat no value when `isPrivate`.
struct ListEntry {
  /// All its keys are known.
  private let mapping: Node.Mapping
  private let isPrivate: Bool

  init(_ node: Node, keys: [String], isPrivate: Bool) throws(ListMistake) {
    guard let mapping = node.mapping else {
      throw ListMistake("expected a group of keys: \(keys.joined(separator: ", "))")
    }
    for key in mapping.keys {
      guard let name = key.string, keys.contains(name) else {
        let nearest = ConfigurationName.nearest(to: key.string ?? "", among: keys)
        throw ListMistake("unknown key \(isPrivate ? "" : (key.string ?? "?") + " ")(did you mean \(nearest)?)")
      }
    }
    (self.mapping, self.isPrivate) = (mapping, isPrivate)
  }

  /// Reads the value of one key.
  /// - Parameters:
  ///   - expected: The accepted values, as words after "expected".
  ///   - fallback: The value of a missing key; `nil` makes the key mandatory.
  func value<Value>(
    _ key: String, _ expected: String, or fallback: Value? = nil, _ parse: (String) -> Value?
  ) throws(ListMistake) -> Value {
    guard let node = mapping[key] else {
      if let fallback { return fallback }
      throw ListMistake("\(key) is missing: expected \(expected)")
    }
    if let value = node.string.flatMap(parse) { return value }
    let shown = isPrivate ? "\(key)" : "\(key) is \"\(node.string ?? "a list or a group")\""
    throw ListMistake("\(shown): expected \(expected)")
  }

  /// Reads a list entry by entry.
  /// - Throws: ``ListMistake``, with the number of the entry, from 1.
  static func all<Value>(
    _ node: Node, _ entry: (Node) throws(ListMistake) -> Value
  ) throws(ListMistake) -> [Value] {
    // Without a reason: the setting's own words about the list are better.
    guard let nodes = node.sequence else { throw ListMistake("") }
    var values: [Value] = []
    for (index, node) in nodes.enumerated() {
      do { values.append(try entry(node)) } catch { throw ListMistake("entry \(index + 1): \(error.reason)") }
    }
    return values
  }
}

/// Links in YAML: in the file below `links`, in the environment on one line.
enum LinkList {
  static let expectation =
    "a list of links, each { name: LETTERS, interface: NAME, radio: SOURCE, network: SOURCE }, no name or interface twice"

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
      name: try entry.value("name", "1 to 32 letters and digits of any script, - and _") { isName($0) ? $0 : nil },
      interface: try entry.value("interface", "the name of an interface", LinkSettings.interface),
      network: try entry.value(
        "network", "auto, fixed-cellular, fixed-wifi or file:PATH (without ~)", or: PathSource.auto
      ) { Setting.withoutTilde($0, PathSource.init) },
      radio: try entry.value(
        "radio", "none, auto, modem-manager, fixed:TECHNOLOGY (such as fixed:4G/LTE) or command:PATH (without ~)",
        or: RadioSource.none
      ) { Setting.withoutTilde($0, RadioSource.init) })
  }

  /// It becomes part of file names, which have at most 255 bytes. It is used as it is written; a combining mark needs a letter before it.
  private static func isName(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    return (1...32).contains(text.count) && text.utf8.count <= 160 && scalars.allSatisfy { isOfName($0) }
      && scalars.first.map { !isMark($0) } ?? false
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    [.nonspacingMark, .spacingMark].contains(scalar.properties.generalCategory)
  }

  private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: true
    default: scalar == "-" || scalar == "_" || isMark(scalar)
    }
  }
}

/// Exclusion zones in YAML: in the file below `privacy.exclusion-zones`, in the environment on one line.
enum ExclusionZoneList {
  static let expectation = "a list of zones, each { latitude: DEGREES, longitude: DEGREES, radius: METRES }"

  /// - Throws: ``ListMistake``, without the places.
  static func parse(_ node: Node) throws(ListMistake) -> [ExclusionZone] { try ListEntry.all(node, zone) }

  private static func zone(_ node: Node) throws(ListMistake) -> ExclusionZone {
    let entry = try ListEntry(node, keys: ["latitude", "longitude", "radius"], isPrivate: true)
    func number(_ range: ClosedRange<Double>) -> (String) -> Double? {
      { Double($0).flatMap { range.contains($0) ? $0 : nil } }
    }
    let latitude = try entry.value("latitude", "degrees, -90 to 90", number(-90...90))
    let longitude = try entry.value("longitude", "degrees, -180 to 180", number(-180...180))
    // A closed range needs a least value: a millimetre stands for "above 0".
    let radius = try entry.value("radius", "metres, above 0, at most 100000", number(0.001...100_000))
    guard let centre = Coordinate(latitude: latitude, longitude: longitude) else {
      throw ListMistake("latitude and longitude are no place on Earth")
    }
    return ExclusionZone(centre: centre, radius: radius)
  }
}
