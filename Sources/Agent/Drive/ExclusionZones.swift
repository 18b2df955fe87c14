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

  /// `nil` for anything else, an unknown key included.
  static func parse(_ node: Node) -> [ExclusionZone]? {
    guard let entries = node.sequence else { return nil }
    let zones = entries.compactMap(zone)
    return zones.count == entries.count ? zones : nil
  }

  private static func zone(_ node: Node) -> ExclusionZone? {
    func number(_ key: String) -> Double? { node.mapping?[key]?.string.flatMap { Double($0) } }
    guard node.mapping?.count == 3, let latitude = number("latitude"), let longitude = number("longitude"),
      let centre = Coordinate(latitude: latitude, longitude: longitude),
      let radius = number("radius"), radius > 0, radius <= 100_000
    else { return nil }
    return ExclusionZone(centre: centre, radius: radius)
  }
}
