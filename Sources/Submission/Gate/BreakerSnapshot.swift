import Coverage

/// The breaker for people and metrics.
public struct BreakerSnapshot: Codable, Hashable, Sendable {
  public let state: CircuitBreaker.State
  /// 429 in a row while closed.
  public let refusals: Int
  /// How often it has opened since the last success.
  public let step: Int
  /// Milliseconds until a request may leave; 0 when one may leave now.
  public let nextAttemptInMilliseconds: Int64
}

extension CircuitBreaker {
  public func snapshot(at now: Duration) -> BreakerSnapshot {
    BreakerSnapshot(
      state: state, refusals: refusals, step: step,
      nextAttemptInMilliseconds: remaining(at: now).inWholeMilliseconds)
  }
}

extension Duration {
  /// Rounded up: who waits for so long has waited long enough.
  var inWholeMilliseconds: Int64 { inMicroseconds.saturatingAdding(999) / 1000 }
}
