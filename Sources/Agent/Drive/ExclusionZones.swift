import Coverage
import Positioning
import Yams

/// A circle round a place of which nothing is to be known, such as the driver's home: `privacy.exclusion-zones`.
public struct ExclusionZone: Hashable, Sendable {
  public let centre: Coordinate
  /// Metres.
  public let radius: Double
}

/// Takes the positions inside exclusion zones away, before anything is made of them or stored. A pure value.
struct ExclusionZones: Sendable {
  private let zones: [ExclusionZone]
  /// Whether the last position was inside.
  private(set) var isInside = false

  init(_ zones: [ExclusionZone]) {
    self.zones = zones
  }

  /// What may be known of `event`; `nil`: nothing. On the way in the position is lost, once.
  mutating func pass(_ event: PositioningEvent) -> PositioningEvent? {
    guard case .fix(let positioned) = event, let place = positioned.fix.coordinate else { return event }
    let wasInside = isInside
    // A position that may be inside is.
    let doubt = positioned.fix.accuracy ?? 0
    isInside = zones.contains { $0.centre.distance(to: place) < $0.radius + doubt }
    guard isInside else { return event }
    return wasInside
      ? nil : .fix(PositionedFix(fix: .lost, arrival: positioned.arrival, delivered: positioned.delivered))
  }
}

/// Zones as they are written in YAML: in the file below `privacy.exclusion-zones`, in the environment on one line.
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
    let radius = try entry.value("radius", "metres, above 0, at most 100000", number(0.001...100_000))
    guard let centre = Coordinate(latitude: latitude, longitude: longitude) else {
      throw ListMistake("latitude and longitude are no place on Earth")
    }
    return ExclusionZone(centre: centre, radius: radius)
  }
}
