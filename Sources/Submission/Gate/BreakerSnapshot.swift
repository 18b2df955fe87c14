import Coverage

/// The circuit breaker's state for status output and metrics.
public struct BreakerSnapshot: Codable, Hashable, Sendable {
  /// The breaker's state.
  public let state: CircuitBreaker.State
  /// 429 responses in a row while the breaker is closed.
  public let refusals: Int
  /// How many times the breaker has opened since the last success.
  public let step: Int
  /// Milliseconds until a request may leave; 0: now.
  public let nextAttemptInMilliseconds: Int64
}

extension CircuitBreaker {
  /// The state at `now`, the time since the host's boot.
  public func snapshot(at now: Duration) -> BreakerSnapshot {
    BreakerSnapshot(
      state: state, refusals: refusals, step: step,
      nextAttemptInMilliseconds: remaining(at: now).inWholeMilliseconds)
  }
}

extension Duration {
  /// Milliseconds, rounded up: a caller that sleeps for this long has slept long enough.
  var inWholeMilliseconds: Int64 { inMicroseconds.saturatingAdding(999) / 1000 }
}
