import Coverage
import Positioning
import Settings

/// Drops positions inside exclusion zones before any other part reads or stores them. A pure value.
struct ExclusionZones: Sendable {
  private let zones: [ExclusionZone]
  /// Whether the last position was inside a zone.
  private(set) var isInside = false

  init(_ zones: [ExclusionZone]) {
    self.zones = zones
  }

  /// The event to pass on; `nil` for none. The first position inside a zone becomes a lost fix.
  mutating func pass(_ event: PositioningEvent) -> PositioningEvent? {
    guard case .fix(let positioned) = event, let place = positioned.fix.coordinate else { return event }
    let wasInside = isInside
    // If the accuracy radius touches a zone, the position counts as inside.
    let doubt = positioned.fix.accuracy ?? 0
    isInside = zones.contains { $0.centre.distance(to: place) < $0.radius + doubt }
    guard isInside else { return event }
    return wasInside
      ? nil : .fix(PositionedFix(fix: .lost, arrival: positioned.arrival, delivered: positioned.delivered))
  }
}
