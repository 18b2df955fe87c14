import Foundation

/// The time of a test in ns, from any zero, and whether the test was aborted. Both come from outside, so that tests can set them.
struct TestClock: Sendable {
  let now: @Sendable () -> Int64
  let isAborted: @Sendable () -> Bool

  /// CLOCK_MONOTONIC: it does not jump when the wall time is set.
  static func monotonic(isAborted: @escaping @Sendable () -> Bool) -> TestClock {
    TestClock(
      now: {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
      }, isAborted: isAborted)
  }
}
