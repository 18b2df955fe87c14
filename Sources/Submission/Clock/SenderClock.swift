import Coverage

/// The clocks and the random numbers that sending depends on. Tests replace each of them.
public struct SenderClock: Sendable {
  /// The host's wall clock, or the selected clock (``timed(by:)``).
  let wall: @Sendable () -> WallTime
  /// Time since the host's boot, including suspend (CLOCK_BOOTTIME).
  let boot: @Sendable () -> Duration
  /// Time since the host's boot without suspends (CLOCK_MONOTONIC).
  let awake: @Sendable () -> Duration
  /// The largest error of the host's wall clock by the kernel; `nil` while no time service disciplines it.
  let maximumError: @Sendable () -> Duration?
  /// Identifies this boot of the host; another value after each boot.
  let bootID: String
  let sleep: @Sendable (Duration) async throws -> Void
  /// A random number, at least 0 and less than 1.
  let random: @Sendable () -> Double

  public init(
    wall: @escaping @Sendable () -> WallTime, boot: @escaping @Sendable () -> Duration,
    awake: (@Sendable () -> Duration)? = nil, maximumError: @escaping @Sendable () -> Duration? = { nil },
    bootID: String,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
  ) {
    (self.wall, self.boot) = (wall, boot)
    self.awake = awake ?? boot
    (self.maximumError, self.bootID, self.sleep, self.random) = (maximumError, bootID, sleep, random)
  }
}

/// A sleep that another task can end early.
struct InterruptibleSleep: Sendable {
  private let task: Task<Void, any Error>

  /// Starts the sleep at once.
  init(_ duration: Duration, _ clock: SenderClock) { task = Task { try await clock.sleep(duration) } }

  /// Returns when the sleep ends, when ``interrupt()`` is called, or when the caller's task is cancelled.
  func finish() async {
    _ = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
  }

  func interrupt() { task.cancel() }
}

extension WallTime {
  /// The time `duration` before this one, limited to the range of 64-bit microseconds.
  func earlier(by duration: Duration) -> WallTime {
    WallTime(microseconds: microseconds.saturatingSubtracting(duration.inMicroseconds))
  }
}
