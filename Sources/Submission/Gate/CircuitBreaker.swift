import Coverage

/// Stops requests to a server that answers 429. A pure value: time comes in with each call, as the time since the
/// host's boot.
///
/// Closed: every call may begin. After ``Policy/threshold`` 429 in a row the breaker opens: no call may begin until
/// the wait ends. Then one trial call may begin (half-open). If the trial succeeds, the breaker closes. If it gets
/// 429, the breaker opens again for a longer wait; if it ends otherwise, for the same wait. A forced trial never
/// shortens a wait: unless it succeeds, the wait that it interrupted continues.
public struct CircuitBreaker: Hashable, Sendable {
  /// The limits of a breaker.
  public struct Policy: Hashable, Sendable {
    /// This many 429 in a row open the breaker; at least 1.
    public var threshold: Int
    /// The first wait, at least 1 s; doubles each time the breaker opens again.
    public var backoff: Duration
    /// The longest wait without a `Retry-After`.
    public var backoffMax: Duration
    /// Jitter lengthens a wait by up to this share of it.
    static let jitterShare = 0.1

    /// Values below the lower limits are raised to them.
    public init(
      threshold: Int = 3, backoff: Duration = .seconds(30), backoffMax: Duration = .seconds(300)
    ) {
      self.threshold = max(1, threshold)
      self.backoff = max(.seconds(1), backoff)
      self.backoffMax = max(self.backoff, backoffMax)
    }

    /// The wait after the breaker has opened `step` times in a row, from 1.
    func wait(_ step: Int) -> Duration { DoublingWait(first: backoff, greatest: backoffMax).after(step - 1) }
  }

  public enum State: String, Hashable, Sendable, Codable {
    case closed, open
    case halfOpen = "half-open"
  }

  /// The right to make one call to the server, which may consist of several requests. The caller must end it. Ending
  /// a call that began before the last change of state has no effect.
  public struct Call: Hashable, Sendable {
    fileprivate let generation: Int
  }

  /// How a call ended.
  public enum Outcome: Hashable, Sendable {
    case success
    /// 429, with the wait of its `Retry-After`.
    case tooManyRequests(retryAfter: Duration?)
    case failure
    case cancelled
  }

  /// The limits.
  public let policy: Policy
  /// Closed lets every call begin; half-open has one trial under way.
  public internal(set) var state = State.closed
  /// 429 responses in a row while closed.
  public internal(set) var refusals = 0
  /// How many times the breaker has opened since the last success.
  public internal(set) var step = 0
  /// Open: when the trial may begin. Half-open: when the trial counts as lost, never before the end of the wait that
  /// a forced trial interrupted. `nil` when closed.
  public internal(set) var deadline: Duration?
  private var generation = 0

  /// A closed breaker.
  public init(policy: Policy = Policy()) {
    self.policy = policy
  }

  /// The wait until a call may begin; zero: now.
  public func remaining(at now: Duration) -> Duration { max(.zero, (deadline ?? now) - now) }

  /// Begins a call, if the state allows one.
  /// - Returns: `nil` when no request may leave now.
  public mutating func begin(at now: Duration, force: Bool = false) -> Call? {
    if let deadline, now < deadline, !(force && state == .open) { return nil }
    if state != .closed { enter(.halfOpen, until: max(now + policy.wait(step), deadline ?? now)) }
    return Call(generation: generation)
  }

  /// Whether further requests of `call` may leave.
  public func allows(_ call: Call) -> Bool { call.generation == generation }

  /// Ends `call`.
  /// - Parameter jitter: Random, 0 to 1; only lengthens a wait.
  public mutating func end(_ call: Call, _ outcome: Outcome, at now: Duration, jitter: Double = 0) {
    guard call.generation == generation else { return }
    switch outcome {
    case .success: close()
    case .tooManyRequests(let retryAfter): refused(retryAfter, at: now, jitter)
    case .failure, .cancelled: if state == .halfOpen { open(at: now, jitter) }
    }
  }

  private mutating func close() {
    if state != .closed { enter(.closed, until: nil) }
    (refusals, step) = (0, 0)
  }

  private mutating func refused(_ retryAfter: Duration?, at now: Duration, _ jitter: Double) {
    if state == .closed { refusals += 1 }
    guard state == .halfOpen || refusals >= policy.threshold else { return }
    (refusals, step) = (0, step + 1)
    open(at: now, atLeast: min(retryAfter ?? .zero, ServerFailure.longestWait), jitter)
  }

  private mutating func open(at now: Duration, atLeast least: Duration = .zero, _ jitter: Double) {
    let wait = max(policy.wait(step), least)
    let more = wait.inSeconds * Policy.jitterShare * min(max(jitter, 0), 1)
    // Whole milliseconds, as in the snapshot: a caller that waits for the snapshot's time has waited long enough.
    let until = now + wait + .milliseconds(Int64(more * 1000))
    enter(.open, until: state == .halfOpen ? max(until, deadline ?? until) : until)
  }

  private mutating func enter(_ state: State, until deadline: Duration?) {
    (self.state, self.deadline) = (state, deadline)
    generation += 1
  }
}
