import Coverage

/// The host's clocks at one moment. The shell reads `boot`, then `awake`: an interruption between the two then does not look like a
/// suspend.
public struct LoopMoment: Hashable, Sendable {
  /// CLOCK_BOOTTIME: it counts sleep.
  public let boot: Duration
  /// CLOCK_MONOTONIC: it stops while the host is suspended.
  public let awake: Duration
  /// The wall time of the ruling clock (docs/clock.md); `nil` while no clock is trusted.
  public let wall: WallTime?

  /// - Parameters:
  ///   - boot: CLOCK_BOOTTIME.
  ///   - awake: CLOCK_MONOTONIC.
  ///   - wall: The trusted wall time, if there is one.
  public init(boot: Duration, awake: Duration, wall: WallTime?) {
    self.boot = boot
    self.awake = awake
    self.wall = wall
  }
}
