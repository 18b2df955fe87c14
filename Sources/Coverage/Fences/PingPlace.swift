/// Where a ping counts. Each ping with an outcome has exactly one place, by the moment at which it was sent (docs/algorithm.md, 4).
public enum PingPlace: Hashable, Sendable {
  /// In the fence with this index in ``Engine/fences``.
  case fence(Int)
  /// Outside of all fences: before the first one, between two of different tests, at the moment at which one begins or ends, or while the
  /// position was inaccurate or lost.
  case outside
  /// The drive pauses: the link is Wi-Fi.
  case paused

  var isInFence: Bool { if case .fence = self { true } else { false } }
}

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

/// A ping with its place.
public struct PlacedPing: Hashable, Sendable {
  /// When it was sent.
  public let sent: DriveTime
  /// Its outcome.
  public let outcome: PingOutcome
  /// Where it counts.
  public let place: PingPlace

  /// A ping with the given values.
  public init(sent: DriveTime, outcome: PingOutcome, place: PingPlace) {
    (self.sent, self.outcome, self.place) = (sent, outcome, place)
  }
}
