import Foundation

@testable import SpeedTest

/// A clock that moves only when a test moves it: the seconds of a phase pass at once, and all figures are exact.
final class StepClock: @unchecked Sendable {
  private let lock = NSLock()
  private var time: Int64 = 1_000_000_000
  private var isAborted = false
  private let created = ContinuousClock.now

  /// For the code under test.
  var clock: TestClock {
    TestClock(now: { self.now }, isAborted: { self.lock.withLock { self.isAborted } })
  }

  /// ns. After 5 minutes without an end it jumps beyond all limits, so that a test whose clock stands still fails and does not hang.
  var now: Int64 {
    if ContinuousClock.now - created > .seconds(300) { return .max / 2 }
    return lock.withLock { time }
  }

  /// A wait whose deadline is that of a whole test.
  func waiting(deadline: Int64 = 100_000_000_000) -> Waiting { Waiting(clock: clock, deadline: deadline) }

  func advance(seconds: Double) { lock.withLock { time += Int64(seconds * 1e9) } }

  /// Connections that do something at the same time move the clock once.
  func advance(to other: Int64) { lock.withLock { time = max(time, other) } }

  func abort() { lock.withLock { isAborted = true } }
}
