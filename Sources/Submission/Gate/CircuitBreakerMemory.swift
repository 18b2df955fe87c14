import Coverage

extension CircuitBreaker {
  /// The part that the next process continues with. It has no wall time: a device without a battery-backed clock has
  /// none that it can trust.
  struct Memory: Codable, Hashable, Sendable {
    var state: State
    var refusals: Int
    var step: Int
    /// The end of the wait, in microseconds on CLOCK_BOOTTIME.
    var deadline: Int64?
    /// The rest of the wait when this was written, in microseconds.
    var remaining: Int64
    var bootID: String
  }

  func memory(at now: Duration, bootID: String) -> Memory {
    Memory(
      state: state, refusals: refusals, step: step, deadline: deadline?.inMicroseconds,
      remaining: remaining(at: now).inMicroseconds, bootID: bootID)
  }

  /// Restores a breaker that an earlier process stored. A trial of that process counts as failed. After a reboot the
  /// rest of the wait counts from the boot: at least that much time has passed.
  init(policy: Policy, memory: Memory, at now: Duration, bootID: String) {
    self.init(policy: policy)
    // A damaged value must not cause a longer wait than the policy allows.
    let longest: Duration = .seconds(
      max(policy.backoffMax, ServerFailure.longestWait).inSeconds * (1 + Policy.jitterShare))
    refusals = min(max(memory.refusals, 0), policy.threshold - 1)
    step = min(max(memory.step, 0), 1000)
    guard memory.state != .closed, let deadline = memory.deadline else { return }
    state = .open
    step = max(step, 1)
    let same: Duration = .microseconds(deadline)
    let rebooted: Duration = .microseconds(memory.remaining)
    self.deadline = min(memory.bootID == bootID ? same : rebooted, now + longest)
  }
}

/// The gate's state for status output and metrics.
public struct SenderStatus: Hashable, Sendable {
  public let breaker: CircuitBreaker
  /// Why no background pass may send now; `nil` when one may.
  public let hold: ServerGate.Hold?
  /// Milliseconds until a background pass may send; 0: now.
  public let nextAttemptInMilliseconds: Int64

  init(_ gate: ServerGate, at now: Duration) {
    breaker = gate.breaker
    hold = gate.hold(.background, at: now)
    nextAttemptInMilliseconds = (hold?.wait ?? .zero).inWholeMilliseconds
  }
}

extension Duration {
  /// Milliseconds, rounded up: a caller that sleeps for this long has slept long enough.
  var inWholeMilliseconds: Int64 { inMicroseconds.saturatingAdding(999) / 1000 }
}
