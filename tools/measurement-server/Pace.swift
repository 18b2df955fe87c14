import Foundation

/// The server's clock, and the rate of a slow link.
struct Pace {
  let rate: Int?
  /// ns at which the next bytes are allowed. Idle time gives credit for 0.1 s only, which compensates for late wakeups.
  private var next: Int64 = 0

  init(rate: Int?) { self.rate = rate }

  /// ns.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Waits until `count` more bytes are allowed.
  mutating func wait(for count: Int) {
    guard let rate else { return }
    let now = Self.now()
    next = max(next, now - 100_000_000) + Int64(Double(count) / Double(rate) * 1e9)
    if next > now { Thread.sleep(forTimeInterval: Double(next - now) / 1e9) }
  }
}
