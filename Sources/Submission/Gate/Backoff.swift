/// Waits after trouble with the server or the network: full jitter, so that devices which met the same outage come back one by
/// one. A pure value; time comes in as the time since the host's boot.
public struct Backoff: Hashable, Sendable {
  /// No wait is shorter: the lower end of full jitter would be a loop without a pause.
  public static let least: Duration = .seconds(1)
  private let base: Duration
  private let cap: Duration
  private(set) var failures = 0
  /// Since the host's boot; `nil` when the last that was heard of the server was no trouble.
  private(set) var until: Duration?

  /// - Parameters:
  ///   - base: Upper end of the first wait; it doubles with each further failure.
  ///   - cap: Upper end of the longest.
  public init(base: Duration = .seconds(30), cap: Duration = .seconds(300)) {
    self.base = base
    self.cap = cap
  }

  /// As an earlier process left it.
  init(base: Duration, cap: Duration, failures: Int, until: Duration?) {
    self.init(base: base, cap: cap)
    self.failures = min(max(failures, 0), 1000)
    self.until = until
  }

  /// - Parameter random: 0 to 1.
  public mutating func failed(at now: Duration, random: Double) {
    let upper = min(base * (1 << min(failures, 20)), cap)
    failures = min(failures + 1, 1000)
    until = now + Self.least + upper * min(max(random, 0), 1)
  }

  /// After 429, while the circuit breaker is still closed. The wait does not grow, the breaker's do: a server that catches up is to
  /// be found soon. Its length is what `tools/simulate-fleet` says is kindest.
  /// - Parameter random: 0 to 1.
  public mutating func refused(at now: Duration, random: Double) {
    until = now + Self.least + .seconds(120) * min(max(random, 0), 1)
  }

  /// Waits for `pause` and no longer, whatever came before.
  public mutating func pause(for pause: Duration, at now: Duration) { until = now + pause }

  public mutating func succeeded() { (failures, until) = (0, nil) }

  /// Whether the last that was heard of the server was trouble.
  public var isInTrouble: Bool { until != nil }

  public func remaining(at now: Duration) -> Duration { max(.zero, (until ?? now) - now) }
}
