import Coverage

/// The classes of fences on maps, with their colours and labels. KML, the styles for QGIS and the map page all take them from
/// here.
enum Legend {
  /// A class of fences.
  struct Entry: Hashable {
    /// The identifier of the `Style` element in KML.
    let name: String
    /// The text for people, in the legends of the map page and of QGIS.
    let label: String
    /// `#RRGGBB`, as HTML writes it.
    let colour: String
    /// Whether it is drawn as an outline: nothing was measured there.
    var isHollow = false
  }

  /// The reference app's colours (docs/protocol.md, 5), but for 2G: its yellow is that of 3G for deuteranopes. The map page refers
  /// to an entry by its place here (``place(of:)``).
  static let classes = generations + [unknownTechnology, noAnswer, notMeasured]

  private static let generations = [
    Entry(name: "t-2g", label: "2G", colour: "#D55E00"),
    Entry(name: "t-3g", label: "3G", colour: "#EFFF00"),
    Entry(name: "t-4g", label: "4G", colour: "#00DEFF"),
    Entry(name: "t-5gnsa", label: "5G NSA", colour: "#0091FF"),
    Entry(name: "t-5gsa", label: "5G SA", colour: "#5E00FF"),
  ]

  /// Pings were answered, on a technology without a known generation.
  static let unknownTechnology = Entry(name: "t-unknown", label: "unknown technology", colour: "#5A5A5A")
  /// Pings were sent, and none was answered: no coverage.
  static let noAnswer = Entry(name: "t-none", label: "no answer", colour: "#A0A0A0")
  /// No ping tells whether there is coverage (``Fence/isMeasured``).
  static let notMeasured = Entry(name: "t-unmeasured", label: "not measured", colour: "#8C8C9C", isHollow: true)

  /// Ends the identifiers of styles in KML for fences that are never submitted.
  static let wifiSuffix = "-wifi"
  /// The mark of a fence that is never submitted although pings were answered in it: it overlaps Wi-Fi time.
  static let wifi = "touched by Wi-Fi"
  /// The mark of one without an answer: Wi-Fi, or a reason of the probe's own (docs/algorithm.md, 4.1).
  static let excluded = "Wi-Fi, or pings not sent"

  static func place(of entry: Entry) -> Int { classes.firstIndex(of: entry) ?? classes.count - 1 }

  /// The class of a fence.
  static func entry(of fence: Fence) -> Entry {
    if !fence.isMeasured { return notMeasured }
    return fence.pingsAnswered > 0 ? entry(of: fence.technology?.generation) : noAnswer
  }

  /// The class of answered pings, or of a speed test, on a technology of this generation; `nil` is one that is not known.
  static func entry(of generation: Technology.Generation?) -> Entry {
    switch generation {
    case .two: generations[0]
    case .three: generations[1]
    case .four: generations[2]
    case .fiveNonStandalone: generations[3]
    case .fiveStandalone: generations[4]
    case .noNetwork, nil: unknownTechnology
    }
  }
}
