import Coverage
import DriveStore

/// How a sender behaves.
public struct SenderSettings: Hashable, Sendable {
  public var retention = Retention()
  public var quota = Quota()
  /// Fences without a session are sent when they are older than this.
  public var legacyThreshold: Duration = .seconds(15 * 60)
  public var gate = ServerGate.Policy()
  /// The most fences of one request.
  public var fencesPerRequest = 400

  public init() {}
}

/// The clocks and the chance that a sender lives by.
public struct SenderClock: Sendable {
  /// The wall clock.
  let wall: @Sendable () -> WallTime
  /// The time since the host's boot, which goes on in suspend (CLOCK_BOOTTIME).
  let boot: @Sendable () -> Duration
  /// Another one after each boot.
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
