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
