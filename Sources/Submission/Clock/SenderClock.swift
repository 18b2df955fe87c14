import Coverage

/// The clocks and the random numbers that sending depends on.
public struct SenderClock: Sendable {
  /// The wall clock.
  let wall: @Sendable () -> WallTime
  /// The time since the host's boot, which goes on in suspend (CLOCK_BOOTTIME).
  let boot: @Sendable () -> Duration
  /// Changes with each boot.
  let bootID: String
  let sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 to 1.
  let random: @Sendable () -> Double

  public init(
    wall: @escaping @Sendable () -> WallTime, boot: @escaping @Sendable () -> Duration, bootID: String,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
  ) {
    self.wall = wall
    self.boot = boot
    self.bootID = bootID
    self.sleep = sleep
    self.random = random
  }
}
