import Coverage

/// The time of a receiver with a fix, with the moment of its arrival, for comparison with the host's clock.
///
/// Every receiver with a fix yields times, not only the chosen one. The times are not checked here (``WallClock`` ignores impossible
/// dates): dates can be wrong by 1024 weeks, and times by whole seconds before the receiver knows the leap seconds
/// (docs/protocol.md, 4.4).
public struct ReceiverClock: Hashable, Sendable {
  /// gpsd's path of the receiver; `nil` when unknown.
  public let device: String?
  /// The receiver's time (UTC), from the report's `time`.
  public let time: WallTime
  /// When the report reached this host, on CLOCK_BOOTTIME: usually 0.1 s to 1 s after ``time``.
  public let arrival: ContinuousClock.Instant
}

/// A moment on both clocks of this host.
struct HostTime: Hashable, Sendable {
  /// For order and age.
  let instant: ContinuousClock.Instant
  /// Only for comparison with the receiver's time.
  let wall: WallTime
}
