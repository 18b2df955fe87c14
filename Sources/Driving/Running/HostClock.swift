import Coverage
import Foundation
import Glibc

extension WallTime {
  /// The current time of the host's wall clock.
  public static var current: WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

/// The current boot of this host.
public enum HostBoot {
  /// The kernel's boot id: another value after each boot; empty when the kernel does not provide it.
  public static let id =
    FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
    .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""

  /// The time since this boot without suspends (CLOCK_MONOTONIC).
  public static var awake: Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
