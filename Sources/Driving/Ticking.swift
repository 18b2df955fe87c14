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
  await Beat().run(period, deliver)
}

/// Waits on a thread of SwiftNIO, where a wait costs one wakeup; `Task.sleep` costs three, on several threads.
private actor Beat {
  /// All callers share one event loop: timers that end together cost one wakeup.
  private static let loop = MultiThreadedEventLoopGroup.singleton.next()

  nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.executor.asUnownedSerialExecutor() }

  func run(_ period: Duration, _ deliver: @Sendable () -> Void) async {
    let period = UInt64(max(1, period.inNanoseconds))
    while !Task.isCancelled {
      deliver()
      await wait(nanoseconds: period - Pinger.now % period)
    }
  }

  /// Waits, or returns at once when the task is cancelled.
  private func wait(nanoseconds: UInt64) async {
    let end = Self.loop.scheduleTask(in: .nanoseconds(Int64(clamping: nanoseconds))) {}
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        end.futureResult.whenComplete { _ in continuation.resume() }
      }
    } onCancel: {
      end.cancel()
    }
  }
}

/// Suspends until the task is cancelled.
func untilCancelled() async {
  let (never, continuation) = AsyncStream<Never>.makeStream()
  for await _ in never {}
  continuation.finish()
}
