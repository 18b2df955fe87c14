import Coverage
import Glibc

extension WallTime {
  /// The current time of the host's wall clock.
  public static var current: WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
