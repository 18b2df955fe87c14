import Coverage

/// Waits after trouble with the server or the network. Full jitter spreads the devices that met the same outage. A
/// pure value; time comes in as the time since the host's boot.
struct Backoff: Hashable, Sendable {
  /// Added to each wait: full jitter alone can be zero, which would retry in a tight loop.
  static let least: Duration = .seconds(1)
  private let base: Duration
  private let cap: Duration
  private(set) var failures = 0
  /// End of the wait, since the host's boot; `nil` when the last contact with the server succeeded.
  private(set) var until: Duration?

  init(base: Duration = .seconds(30), cap: Duration = .seconds(300)) {
    (self.base, self.cap) = (base, cap)
  }

  /// Restores the state that an earlier process stored.
  init(base: Duration, cap: Duration, failures: Int, until: Duration?) {
    self.init(base: base, cap: cap)
    self.failures = min(max(failures, 0), 1000)
    self.until = until
  }

  /// Records a failure and starts a longer wait.
  mutating func failed(at now: Duration, random: Double) {
    let upper = DoublingWait(first: base, greatest: cap).after(failures)
    failures = min(failures + 1, 1000)
    until = now + Self.least + upper * min(max(random, 0), 1)
  }

  /// Records a 429 while the circuit breaker is still closed. The wait does not grow, because the breaker's does, and
  /// a server that catches up should be noticed soon. Its range, 1 to 121 s, did best in `tools/simulate-fleet`.
  mutating func refused(at now: Duration, random: Double) {
    until = now + Self.least + .seconds(120) * min(max(random, 0), 1)
  }

  /// Replaces the present wait by exactly `pause`.
  mutating func pause(for pause: Duration, at now: Duration) { until = now + pause }

  /// Records a success: no wait, and the next failure starts with the shortest range again.
  mutating func succeeded() { (failures, until) = (0, nil) }

  /// The rest of the wait; zero when there is none.
  func remaining(at now: Duration) -> Duration { max(.zero, (until ?? now) - now) }
}
