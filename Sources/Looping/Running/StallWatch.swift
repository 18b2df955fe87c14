import Foundation
import Synchronization

/// Notices that the process stood still: stopped by a signal, or the host suspended. A curve with such a gap is no measurement of the link.
final class StallWatch: Sendable {
  /// A longer gap between two looks is a stall; a busy host delays a thread by far less.
  static let limit: Int64 = 3_000_000_000
  private static let period = 0.25

  private struct State {
    var isRunning = true
    var hasStalled = false
  }

  private let state = Mutex(State())

  /// - Parameter onStall: Called once, on a thread of its own.
  init(onStall: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      var last = Self.now
      while state.withLock({ $0.isRunning }) {
        Thread.sleep(forTimeInterval: Self.period)
        let now = Self.now
        if now - last > Self.limit {
          state.withLock { $0.hasStalled = true }
          return onStall()
        }
        last = now
      }
    }
  }

  /// Ends the watch.
  /// - Returns: Whether the process stood still.
  func end() -> Bool {
    state.withLock {
      $0.isRunning = false
      return $0.hasStalled
    }
  }

  /// CLOCK_BOOTTIME: it counts a suspend too.
  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
