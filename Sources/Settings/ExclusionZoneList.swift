import Coverage
import Yams

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
