/// The gate's state, for status and metrics.
public struct SenderStatus: Hashable, Sendable {
  public let breaker: BreakerSnapshot
  /// Why no pass in the background may send now; `nil` when one may.
  public let hold: ServerGate.Hold?
  /// Milliseconds until a pass in the background may send; 0: at once.
  public let nextAttemptInMilliseconds: Int64

  init(_ gate: ServerGate, at now: Duration) {
    breaker = gate.breaker.snapshot(at: now)
    hold = gate.hold(.background, at: now)
    nextAttemptInMilliseconds = (hold?.wait ?? .zero).inWholeMilliseconds
  }
}
