import Coverage

extension CircuitBreaker {
  /// What outlives the process. Wall time is not in it: on a device without a clock of its own it means nothing.
  struct Memory: Codable, Hashable, Sendable {
    var state: State
    var refusals: Int
    var step: Int
    /// Microseconds on the boot-time clock.
    var deadline: Int64?
    /// Microseconds that were left of the wait when this was written.
    var remaining: Int64
    var bootID: String
  }

  func memory(at now: Duration, bootID: String) -> Memory {
    Memory(
      state: state, refusals: refusals, step: step, deadline: deadline?.inMicroseconds,
      remaining: remaining(at: now).inMicroseconds, bootID: bootID)
  }

  /// A breaker as an earlier process left it. A trial that was under way has died with that process and counts as failed. After a
  /// reboot, the wait that was left is counted from the boot on: so much time has passed at least.
  init(policy: Policy, memory: Memory, at now: Duration, bootID: String) {
    self.init(policy: policy)
    // Whatever the store says, no wait is longer than the longest that there can be.
    let longest: Duration = .seconds(
      max(policy.backoffMax, Policy.retryAfterMax).inSeconds * (1 + Policy.jitterShare))
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
