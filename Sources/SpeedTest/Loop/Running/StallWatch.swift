import Foundation
import Pinging
import Synchronization

/// Notices that the process stood still: stopped by a signal, or the host suspended. A curve with such a gap is no measurement of the link.
final class StallWatch: Sendable {
  /// A longer gap between two looks is a stall; a busy host delays a thread by far less.
  static let limit: Int64 = 3_000_000_000
  private static let period = 0.25

  private struct State {
    var isRunning = true
    var hasStalled = false
    var last = StallWatch.now
  }

  private let state = Mutex(State())

  /// - Parameter onStall: Called at most once, on a thread of its own; also for a stall that ``end()`` notices.
  init(onStall: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      while look() {
        Thread.sleep(forTimeInterval: Self.period)
      }
      if state.withLock({ $0.hasStalled }) { onStall() }
    }
  }

  /// - Returns: Whether to look again.
  private func look() -> Bool {
    state.withLock {
      guard $0.isRunning else { return false }
      let now = Self.now
      $0.hasStalled = $0.hasStalled || now - $0.last > Self.limit
      $0.last = now
      return !$0.hasStalled
    }
  }

  /// Ends the watch, with a last look: the test may end before the watch's own thread wakes up.
  /// - Returns: Whether the process stood still.
  func end() -> Bool {
    _ = look()
    return state.withLock {
      $0.isRunning = false
      return $0.hasStalled
    }
  }

  /// CLOCK_BOOTTIME: it counts a suspend too.
  private static var now: Int64 { Int64(clamping: Pinger.now) }
}
