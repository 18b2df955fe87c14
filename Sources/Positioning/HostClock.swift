import Coverage
import Glibc

/// The source of the client's time; tests pass their own.
struct HostClock: Sendable {
  let now: @Sendable () -> HostTime

  init(now: @escaping @Sendable () -> HostTime) {
    self.now = now
  }

  /// The clocks of the system.
  static let system = HostClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    return HostTime(instant: .now, wall: WallTime(microseconds: microseconds))
  }
}
