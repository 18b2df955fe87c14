import Coverage

/// Keeps a device from asking a server that wants fewer requests. A pure value: time comes in with each call, as the time since
/// the host's boot.
///
/// Closed, every call may begin. After some 429 in a row it opens: nothing may begin for a while, then one trial (half-open). A
/// trial that succeeds closes it; one that meets 429 opens it for longer, any other end of it for as long as before. A trial that
/// was forced shortens no wait: if it does not succeed, the wait that it broke into goes on.
public struct CircuitBreaker: Hashable, Sendable {
  public struct Policy: Hashable, Sendable {
    /// So many 429 in a row open the breaker.
    public var threshold: Int
    /// The first wait; it doubles with each further opening.
    public var backoff: Duration
    /// The longest wait of the breaker's own.
    public var backoffMax: Duration
    /// A server cannot make it wait for longer than this.
    public static let retryAfterMax: Duration = .seconds(3600)
    /// Jitter lengthens a wait by up to this share of it.
    static let jitterShare = 0.1

    public init(
      threshold: Int = 3, backoff: Duration = .seconds(30), backoffMax: Duration = .seconds(300)
    ) {
      self.threshold = max(1, threshold)
      self.backoff = max(.seconds(1), backoff)
      self.backoffMax = max(self.backoff, backoffMax)
    }

    /// The wait of the `step`th opening in a row, from 1.
    func wait(_ step: Int) -> Duration {
      guard step > 1 else { return backoff }
      return min(backoff * (1 << min(step - 1, 30)), backoffMax)
    }
  }

  public enum State: String, Hashable, Sendable, Codable {
    case closed, open
    case halfOpen = "half-open"
  }

  /// The right to one call to the server, which may be several requests. Each has to be ended; one begun in an older state of
  /// the breaker changes nothing then.
  public struct Call: Hashable, Sendable {
    fileprivate let generation: Int
  }

  /// How a call ended.
  public enum Outcome: Hashable, Sendable {
    case success
    /// 429, with the wait that its `Retry-After` asks for.
    case tooManyRequests(retryAfter: Duration?)
    case failure
    case cancelled
  }

  public let policy: Policy
  public internal(set) var state = State.closed
  /// 429 in a row while closed.
  public internal(set) var refusals = 0
  /// How often it has opened since the last success.
  public internal(set) var step = 0
  /// Open: when the trial may begin. Half-open: when the trial counts as lost, never before the end of the wait that it broke
  /// into by force. `nil` when closed.
  public internal(set) var deadline: Duration?
  private var generation = 0

  public init(policy: Policy = Policy()) {
    self.policy = policy
  }

  /// The wait until a call may begin; zero when one may begin now.
  public func remaining(at now: Duration) -> Duration { max(.zero, (deadline ?? now) - now) }

  /// - Parameter force: The operator's override: the trial begins now.
  /// - Returns: `nil` when no request may leave now.
  public mutating func begin(at now: Duration, force: Bool = false) -> Call? {
    if let deadline, now < deadline, !(force && state == .open) { return nil }
    if state != .closed { enter(.halfOpen, until: max(now + policy.wait(step), deadline ?? now)) }
    return Call(generation: generation)
  }

  /// Whether requests of a call that began earlier may still leave.
  public func allows(_ call: Call) -> Bool { call.generation == generation }

  /// - Parameter jitter: 0 to 1, at random; it only adds to a wait.
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
    open(at: now, atLeast: min(retryAfter ?? .zero, Policy.retryAfterMax), jitter)
  }

  private mutating func open(at now: Duration, atLeast least: Duration = .zero, _ jitter: Double) {
    let wait = max(policy.wait(step), least)
    let more = wait.inSeconds * Policy.jitterShare * min(max(jitter, 0), 1)
    // In whole milliseconds, so that who waits as long as the snapshot says has waited long enough.
    let until = now + wait + .milliseconds(Int64(more * 1000))
    enter(.open, until: state == .halfOpen ? max(until, deadline ?? until) : until)
  }

  private mutating func enter(_ state: State, until deadline: Duration?) {
    self.state = state
    self.deadline = deadline
    generation += 1
  }
}
