import ArgumentParser
import Coverage
import Export

/// Conditions for the fences to export.
struct FilterOptions: ParsableArguments {
  @Option(name: .long, parsing: .unconditionalSingleValue, help: "Only the session with this id; can be repeated.")
  var session: [Int64] = []

  @Option(
    name: .long, help: "Only fences that began at this time or later: 2026-11-20, or 2026-11-20T10:00:00Z (UTC).",
    transform: time)
  var from: WallTime?

  @Option(name: .long, help: "Only fences that began before this time.", transform: time)
  var to: WallTime?

  @Option(
    name: .long, parsing: .unconditional,
    help: "Only fences whose centre is in this box: WEST,SOUTH,EAST,NORTH in degrees.",
    transform: {
      try required(
        SearchBox($0), "expected WEST,SOUTH,EAST,NORTH in degrees, -180 to 180 and -90 to 90, south not above north.")
    })
  var bbox: SearchBox?

  @Option(
    name: .long, help: "Only fences on this technology: 4G/LTE, 4G, 5G, \"5G SA\", none ...; can be repeated.",
    transform: {
      try required(
        TechnologyPattern($0), "expected a technology such as 4G/LTE, or one of 2G, 3G, 4G, 5G, 5G NSA, 5G SA, none.")
    })
  var technology: [TechnologyPattern] = []

  @Option(name: .long, help: "Only fences of the link with this name; can be repeated.")
  var link: [String] = []

  /// The conditions, without the sessions.
  var filter: FenceFilter {
    var filter = FenceFilter()
    (filter.from, filter.to, filter.box) = (from, to, bbox)
    (filter.technologies, filter.links) = (technology, Set(link))
    return filter
  }

  mutating func validate() throws {
    if let from, let to, from >= to {
      throw ValidationError("--from is not before --to: no fence can meet both.")
    }
  }

  static func time(_ text: String) throws -> WallTime {
    try required(
      WallTime(iso8601: text) ?? WallTime(iso8601: text + "T00:00:00Z"),
      "expected a day or a time in UTC: 2026-11-20 or 2026-11-20T10:00:00Z.")
  }

  private static func required<Value>(_ value: Value?, _ expectation: String) throws -> Value {
    guard let value else { throw ValidationError(expectation) }
    return value
  }
}
