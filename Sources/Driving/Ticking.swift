import NIOCore
import NIOPosix
import Pinging

/// Calls `deliver` now and at each whole second of CLOCK_BOOTTIME until the task is cancelled; seconds that the host slept through are
/// left out.
public func eachSecond(_ deliver: @escaping @Sendable () -> Void) async { await each(.seconds(1), deliver) }

/// Calls `deliver` now and at each whole multiple of `period` of CLOCK_BOOTTIME, so that all that is done so regularly is done in one
/// go, until the task is cancelled; those that the host slept through are left out. `deliver` has to return at once.
public func each(_ period: Duration, _ deliver: @escaping @Sendable () -> Void) async {
  await Beat().run(period, deliver)
}

/// Waits on a thread of the network library. There a wait costs one wakeup; `Task.sleep` takes three, of several threads.
private actor Beat {
  /// One for all: what is due at the same time costs one wakeup.
  private static let loop = MultiThreadedEventLoopGroup.singleton.next()

  nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.executor.asUnownedSerialExecutor() }

  func run(_ period: Duration, _ deliver: @Sendable () -> Void) async {
    let period = UInt64(max(1, period.inNanoseconds))
    while !Task.isCancelled {
      deliver()
      await wait(nanoseconds: period - Pinger.now % period)
    }
  }

  /// Returns at once when the task is cancelled.
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

/// Returns when the task is cancelled, and not before.
func untilCancelled() async {
  let (never, continuation) = AsyncStream<Never>.makeStream()
  for await _ in never {}
  continuation.finish()
}
