import Coverage
import DriveStore

/// How a sender behaves.
public struct SenderSettings: Hashable, Sendable {
  public var retention = Retention()
  public var quota = Quota()
  /// Fences without a session are sent when they are older than this.
  public var legacyThreshold: Duration = .seconds(15 * 60)
  public var breaker = CircuitBreaker.Policy()
  /// Upper ends of the first and of the longest wait after trouble with the network or the server.
  public var backoff: Duration = .seconds(30)
  public var backoffMax: Duration = .seconds(300)
  /// The first request after a start or an outage waits for a random part of this, so that a fleet does not come as one.
  public var spread: Duration = .seconds(60)
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

/// How much a pass may be put off.
public enum Urgency: Hashable, Sendable {
  /// It waits for its share of the spread, and not at all while the server is in trouble.
  case background
  /// Somebody waits for it: only the circuit breaker holds it up.
  case commanded
  /// The operator's override: the circuit breaker tries now.
  case forced
}
