import Coverage

/// A moment on both clocks of this host.
struct HostTime: Hashable, Sendable {
  /// For order and age.
  let instant: ContinuousClock.Instant
  /// Only for comparison with the receiver's time.
  let wall: WallTime

  init(instant: ContinuousClock.Instant, wall: WallTime) {
    self.instant = instant
    self.wall = wall
  }
}
