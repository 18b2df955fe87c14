import ArgumentParser
import Coverage
import Export

/// The selection that a report compares with: the conditions of the first one, but for those that an option replaces.
struct SecondOptions: ParsableArguments {
  @Option(
    name: .long, parsing: .unconditionalSingleValue, help: "Compare with the session with this id; can be repeated.")
  var withSession: [Int64] = []

  @Option(name: .long, help: "Compare with the link with this name; can be repeated.")
  var withLink: [String] = []

  @Option(name: .long, help: "Compare with fences that began at this time or later.", transform: FilterOptions.time)
  var withFrom: WallTime?

  @Option(name: .long, help: "Compare with fences that began before this time.", transform: FilterOptions.time)
  var withTo: WallTime?

  @Option(name: .long, help: "The size of a place in metres for the comparison, 10 to 10000.")
  var place = 50.0

  mutating func validate() throws {
    guard (10...10_000).contains(place) else { throw ValidationError("--place: expected 10 to 10000 metres.") }
  }

  /// Whether there is a second selection.
  var isChosen: Bool { !withSession.isEmpty || !withLink.isEmpty || withFrom != nil || withTo != nil }

  func sessions(_ first: [Int64]) -> [Int64] { withSession.isEmpty ? first : withSession }

  func conditions(_ first: FenceFilter) -> FenceFilter {
    var second = first
    if !withLink.isEmpty { second.links = Set(withLink) }
    (second.from, second.to) = (withFrom ?? second.from, withTo ?? second.to)
    return second
  }
}
