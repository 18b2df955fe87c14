import Coverage

/// The colours of the technologies on maps, with their labels. KML, the styles for QGIS and the map page all take them from
/// here.
enum Legend {
  /// A technology with its colour.
  struct Entry {
    /// The identifier of the `Style` element in KML.
    let name: String
    /// The text for people, in the legend of the map page.
    let label: String
    /// `#RRGGBB`, as HTML writes it.
    let colour: String
  }

  /// The reference app's colours (docs/protocol.md, 5). The map page refers to an entry by its place here (``place(of:)``),
  /// and the last one is the one without a technology.
  static let technologies = [
    Entry(name: "t-2g", label: "2G", colour: "#FFDE00"),
    Entry(name: "t-3g", label: "3G", colour: "#EFFF00"),
    Entry(name: "t-4g", label: "4G", colour: "#00DEFF"),
    Entry(name: "t-5gnsa", label: "5G NSA", colour: "#0091FF"),
    Entry(name: "t-5gsa", label: "5G SA", colour: "#5E00FF"),
    Entry(name: "t-none", label: "no technology, or no answer", colour: noCoverage),
  ]

  private static let noCoverage = "#A0A0A0"

  /// The place of an entry in ``technologies``.
  static func place(of entry: Entry) -> Int { technologies.firstIndex { $0.name == entry.name } ?? 5 }

  /// Grey without a technology, and for a fence with pings but without an answer (docs/algorithm.md, 1).
  static func technology(of fence: Fence) -> Entry {
    if fence.pings > 0, fence.pingsAnswered == 0 { return technologies[5] }
    return entry(of: fence.technology?.generation)
  }

  /// The colour of a generation; `nil` is a technology that is not known.
  static func entry(of generation: Technology.Generation?) -> Entry {
    switch generation {
    case .two: technologies[0]
    case .three: technologies[1]
    case .four: technologies[2]
    case .fiveNonStandalone: technologies[3]
    case .fiveStandalone: technologies[4]
    case .noNetwork, nil: technologies[5]
    }
  }
}
