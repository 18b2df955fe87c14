/// The gate's state for status output and metrics.
public struct SenderStatus: Hashable, Sendable {
  /// The circuit breaker.
  public let breaker: BreakerSnapshot
  /// Why no background pass may send now; `nil` when one may.
  public let hold: ServerGate.Hold?
  /// Milliseconds until a background pass may send; 0: now.
  public let nextAttemptInMilliseconds: Int64

  init(_ gate: ServerGate, at now: Duration) {
    breaker = gate.breaker.snapshot(at: now)
    hold = gate.hold(.background, at: now)
    nextAttemptInMilliseconds = (hold?.wait ?? .zero).inWholeMilliseconds
  }
}
