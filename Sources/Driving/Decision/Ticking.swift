import NIOCore
import NIOPosix
import Pinging

/// Calls `deliver` now and at each whole second of CLOCK_BOOTTIME until the task is cancelled. Skips seconds during
/// which the host slept.
public func eachSecond(_ deliver: @escaping @Sendable () -> Void) async { await each(.seconds(1), deliver) }

/// Calls `deliver` now and at each whole multiple of `period` on CLOCK_BOOTTIME until the task is cancelled. Skips
/// multiples during which the host slept. All callers wake up at the same moments, which saves wakeups.
/// - Parameters:
///   - period: At least a nanosecond.
///   - deliver: Must return at once.
public func each(_ period: Duration, _ deliver: @escaping @Sendable () -> Void) async {
  let beat = Beat(period, deliver)
  beat.begin()
  await untilCancelled()
  await beat.end()
}

/// A timer on a thread of SwiftNIO, where a wait costs one wakeup; `Task.sleep` costs three, and each change between a task's threads another.
private final class Beat: Sendable {
  /// All callers share one event loop: timers that end together cost one wakeup.
  private static let loop = MultiThreadedEventLoopGroup.singleton.next()

  private let period: UInt64
  private let deliver: @Sendable () -> Void
  private let next = NIOLoopBoundBox<Scheduled<Void>?>.makeEmptyBox(eventLoop: Beat.loop)
  /// A timer that is due already cannot be cancelled any more.
  private let hasEnded = NIOLoopBoundBox.makeBoxSendingValue(false, eventLoop: Beat.loop)

  init(_ period: Duration, _ deliver: @escaping @Sendable () -> Void) {
    self.period = UInt64(max(1, period.inNanoseconds))
    self.deliver = deliver
  }

  func begin() { Self.loop.execute { self.run() } }

  /// Nothing is delivered after it has returned.
  func end() async {
    await withCheckedContinuation { continuation in
      Self.loop.execute {
        self.hasEnded.value = true
        self.next.value?.cancel()
        continuation.resume()
      }
    }
  }

  private func run() {
    guard !hasEnded.value else { return }
    deliver()
    let wait = period - Pinger.now % period
    next.value = Self.loop.scheduleTask(in: .nanoseconds(Int64(clamping: wait))) { self.run() }
  }
}

/// Suspends until the task is cancelled.
func untilCancelled() async {
  let (never, continuation) = AsyncStream<Never>.makeStream()
  for await _ in never {}
  continuation.finish()
}
