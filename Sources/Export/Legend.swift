import Coverage

/// The colours of the map page, with their labels.
enum Legend {
  /// A colour; its name is a CSS class.
  struct Entry {
    let name: String
    let label: String
    let colour: String
  }

  /// The reference app's colours (docs/protocol.md, 5).
  static let technologies = [
    Entry(name: "t-2g", label: "2G", colour: "#FFDE00"),
    Entry(name: "t-3g", label: "3G", colour: "#EFFF00"),
    Entry(name: "t-4g", label: "4G", colour: "#00DEFF"),
    Entry(name: "t-5gnsa", label: "5G NSA", colour: "#0091FF"),
    Entry(name: "t-5gsa", label: "5G SA", colour: "#5E00FF"),
    Entry(name: "t-none", label: "no technology, or no answer", colour: noCoverage),
  ]

  static let delays = [
    Entry(name: "d-30", label: "under 30 ms", colour: "#1A9850"),
    Entry(name: "d-60", label: "under 60 ms", colour: "#91CF60"),
    Entry(name: "d-120", label: "under 120 ms", colour: "#FEE08B"),
    Entry(name: "d-300", label: "under 300 ms", colour: "#FC8D59"),
    Entry(name: "d-more", label: "more", colour: "#D73027"),
    Entry(name: "d-none", label: "no answer", colour: noCoverage),
  ]

  static let losses = [
    Entry(name: "l-0", label: "no loss", colour: "#1A9850"),
    Entry(name: "l-2", label: "up to 2 %", colour: "#91CF60"),
    Entry(name: "l-10", label: "up to 10 %", colour: "#FEE08B"),
    Entry(name: "l-more", label: "more", colour: "#FC8D59"),
    Entry(name: "l-all", label: "all lost", colour: "#D73027"),
    Entry(name: "l-none", label: "no pings", colour: noCoverage),
  ]

  private static let noCoverage = "#A0A0A0"

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

  static func delay(of fence: Fence) -> Entry {
    guard let mean = fence.meanRTTNanoseconds else { return delays[5] }
    return switch mean {
    case ..<30_000_000: delays[0]
    case ..<60_000_000: delays[1]
    case ..<120_000_000: delays[2]
    case ..<300_000_000: delays[3]
    default: delays[4]
    }
  }

  static func loss(of fence: Fence) -> Entry {
    let lost = fence.pings - fence.pingsAnswered
    guard fence.pings > 0 else { return losses[5] }
    if lost == fence.pings { return losses[4] }
    return switch Double(lost) / Double(fence.pings) {
    case 0: losses[0]
    case ...0.02: losses[1]
    case ...0.1: losses[2]
    default: losses[3]
    }
  }

  static var html: String {
    [("technology", technologies), ("delay", delays), ("loss", losses)].map { view, entries in
      let items = entries.map { "<li><i style=\"background:\($0.colour)\"></i>\($0.label)</li>" }.joined()
      return "<ul class=\"legend \(view)\">\(items)</ul>"
    }.joined(separator: "\n")
  }

  static var style: String {
    [("technology", technologies), ("delay", delays), ("loss", losses)].flatMap { view, entries in
      entries.map { ".\(view) circle.\($0.name) { color: \($0.colour); }" }
    }.joined(separator: "\n")
  }
}
