import ArgumentParser
import Coverage
import Export

/// Which fences to export, by what they are.
struct FilterOptions: ParsableArguments {
  @Option(name: .long, parsing: .unconditionalSingleValue, help: "Only the session with this id; can be repeated.")
  var session: [Int64] = []

  @Option(name: .long, help: "Only fences that began at this time or later: 2026-11-20, or 2026-11-20T10:00:00Z (UTC).")
  var from: Moment?

  @Option(name: .long, help: "Only fences that began before this time.")
  var to: Moment?

  @Option(
    name: .long, parsing: .unconditional,
    help: "Only fences whose centre is in this box: WEST,SOUTH,EAST,NORTH in degrees.")
  var bbox: SearchBox?

  @Option(name: .long, help: "Only fences on this technology: 4G/LTE, 4G, 5G, \"5G SA\", none ...; can be repeated.")
  var technology: [TechnologyPattern] = []

  @Option(name: .long, help: "Only fences of the link with this name; can be repeated.")
  var link: [String] = []

  /// The conditions, without the sessions.
  var filter: FenceFilter {
    var filter = FenceFilter()
    (filter.from, filter.to, filter.box) = (from?.time, to?.time, bbox)
    (filter.technologies, filter.links) = (technology, Set(link))
    return filter
  }

  mutating func validate() throws {
    if let from = from?.time, let to = to?.time, from >= to {
      throw ValidationError("--from is not before --to: no fence can meet both.")
    }
  }

  /// A time as a user writes it.
  struct Moment: ExpressibleByArgument {
    let time: WallTime

    init?(argument: String) {
      guard let time = WallTime(iso8601: argument) ?? WallTime(iso8601: argument + "T00:00:00Z") else { return nil }
      self.time = time
    }
  }
}

extension SearchBox: ExpressibleByArgument {
  /// Reads `WEST,SOUTH,EAST,NORTH`.
  public init?(argument: String) { self.init(argument) }
}

extension TechnologyPattern: ExpressibleByArgument {
  /// Reads the name of a technology or of a generation.
  public init?(argument: String) { self.init(argument) }
}
