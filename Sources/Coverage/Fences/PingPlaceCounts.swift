/// Pings by their places.
public struct PingPlaceCounts: Hashable, Sendable {
  /// In a fence.
  public var inFences = 0
  /// Outside of all fences.
  public var outside = 0
  /// On Wi-Fi.
  public var paused = 0

  /// No pings.
  public init() {}

  mutating func count(_ place: PingPlace) {
    switch place {
    case .fence: inFences += 1
    case .outside: outside += 1
    case .paused: paused += 1
    }
  }
}
