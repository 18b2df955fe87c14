import Coverage
import Positioning
import Settings

/// Drops positions inside exclusion zones before any consumer reads or stores them. A pure value.
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
