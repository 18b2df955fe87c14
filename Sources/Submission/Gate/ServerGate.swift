/// Decides whether a request to the control server may leave now: one answer for passes, for a drive's requests for
/// tests, and for the history check. A pure value: time comes in with each call, as the time since the host's boot.
///
/// The gate joins four waits. The circuit breaker and a `Retry-After` apply to every request; the operator's
/// `--force` overrides both. The back-off after trouble and the spread apply to background passes only. A caller that
/// suspends between ``ask(_:at:random:)`` and its request must check ``allows(_:at:)`` again, because another request
/// may have met 429 meanwhile. ``GatedServer`` does this for all callers.
public struct ServerGate: Hashable, Sendable {
  /// The limits of a gate.
  public struct Policy: Hashable, Sendable {
    /// The circuit breaker's limits.
    public var breaker = CircuitBreaker.Policy()
    /// Upper end of the first wait after trouble with the network or the server.
    public var backoff: Duration = .seconds(30)
    /// Upper end of the longest wait after such trouble.
    public var backoffMax: Duration = .seconds(300)
    /// The first background request after a start or an outage waits for a random part of this time.
    public var spread: Duration = .seconds(60)
    /// Pause of background passes after 401 or 403.
    static let pause: Duration = .seconds(15 * 60)

    public init() {}
  }

  /// Which waits apply to a request.
  public enum Urgency: Hashable, Sendable {
    /// Waits for its share of the spread, and for the back-off.
    case background
    /// Waits for the circuit breaker and a `Retry-After` only.
    case commanded
    /// The operator's override: ignores every wait that began before it.
    case forced
  }

  /// The right to make one call, which may consist of several requests.
  public struct Call: Hashable, Sendable {
    fileprivate let breaker: CircuitBreaker.Call
    /// End of the `Retry-After` that a forced call ignores.
    fileprivate let ignored: Duration?
  }

  /// The gate's answer to a request.
  public enum Answer: Hashable, Sendable {
    case leave(Call)
    case held(Hold)
    /// Sleep for this long, then ask again.
    case spread(Duration)
  }

  /// Why no request may leave, and for how long. Thrown to the caller of a request that is not sent.
  public enum Hold: Error, Hashable, Sendable {
    case breaker(Duration)
    /// The server's `Retry-After` has not passed.
    case retryAfter(Duration)
    /// Background only: the back-off after trouble, or the pause after 401 or 403.
    case trouble(Duration)

    /// How long the wait still lasts.
    public var wait: Duration {
      switch self {
      case .breaker(let wait), .retryAfter(let wait), .trouble(let wait): wait
      }
    }
  }

  /// How a call ended.
  public enum Outcome: Hashable, Sendable {
    case success
    case failed(ServerFailure)
    /// Cancelled, or ended for a reason that says nothing about the server.
    case cancelled
  }

  /// The part of the state that the next process continues with.
  struct Lasting: Hashable, Sendable {
    var breaker: CircuitBreaker
    var backoff: Backoff
    /// End of the server's `Retry-After`; `nil` without one.
    var quietUntil: Duration?
  }

  /// The limits.
  public let policy: Policy
  private(set) var lasting: Lasting
  private var isSpreadDue = true

  /// A gate that lets every request leave, after the spread.
  public init(policy: Policy = Policy()) {
    self.policy = policy
    lasting = Lasting(
      breaker: CircuitBreaker(policy: policy.breaker), backoff: Backoff(base: policy.backoff, cap: policy.backoffMax))
  }

  /// Restores a gate that an earlier process stored.
  init(policy: Policy, lasting: Lasting) {
    (self.policy, self.lasting) = (policy, lasting)
  }

  public var breaker: CircuitBreaker { lasting.breaker }

  /// The longest of the waits that apply to such a request; `nil` when it may leave now.
  public func hold(_ urgency: Urgency, at now: Duration) -> Hold? {
    guard urgency != .forced else { return nil }
    var holds: [Hold] = [
      .breaker(breaker.remaining(at: now)), .retryAfter(max(.zero, (lasting.quietUntil ?? now) - now)),
    ]
    if urgency == .background { holds.append(.trouble(lasting.backoff.remaining(at: now))) }
    return holds.filter { $0.wait > .zero }.max { $0.wait < $1.wait }
  }

  /// Asks for a call.
  public mutating func ask(_ urgency: Urgency, at now: Duration, random: Double) -> Answer {
    if let hold = hold(urgency, at: now) { return .held(hold) }
    let isDue = isSpreadDue
    isSpreadDue = false
    let wait = policy.spread * min(max(random, 0), 1)
    if urgency == .background, isDue, wait > .zero { return .spread(wait) }
    guard let call = lasting.breaker.begin(at: now, force: urgency == .forced) else {
      return .held(.breaker(breaker.remaining(at: now)))
    }
    return .leave(Call(breaker: call, ignored: urgency == .forced ? lasting.quietUntil : nil))
  }

  /// Whether the next request of `call` may leave now.
  public func allows(_ call: Call, at now: Duration) -> Bool {
    guard lasting.breaker.allows(call.breaker) else { return false }
    return (lasting.quietUntil ?? now) <= now || lasting.quietUntil == call.ignored
  }

  /// Records a failed request of any call, before that call ends. Its `Retry-After`, at most an hour, can lengthen a wait and never shortens
  /// one.
  public mutating func heard(_ failure: ServerFailure, at now: Duration) {
    guard let wait = failure.retryAfter, wait > .zero else { return }
    let until = now + min(wait, ServerFailure.longestWait)
    lasting.quietUntil = max(lasting.quietUntil ?? until, until)
  }

  public mutating func end(_ call: Call, _ outcome: Outcome, at now: Duration, random: Double) {
    switch outcome {
    case .success:
      lasting.breaker.end(call.breaker, .success, at: now)
      // A forced call that succeeds disproves the wait that it ignored.
      if let quiet = lasting.quietUntil, quiet <= now || quiet == call.ignored { lasting.quietUntil = nil }
    case .failed(let failure):
      if case .tooManyRequests(let retryAfter) = failure {
        lasting.breaker.end(call.breaker, .tooManyRequests(retryAfter: retryAfter), at: now, jitter: random)
      } else {
        lasting.breaker.end(call.breaker, .failure, at: now, jitter: random)
      }
    case .cancelled: lasting.breaker.end(call.breaker, .cancelled, at: now, jitter: random)
    }
  }

  /// A pass delivered a batch: the back-off starts again from its shortest wait.
  public mutating func delivered() { lasting.backoff.succeeded() }

  /// A pass ended in trouble: background passes wait.
  /// - Parameter failure: The failure that ended the pass; decides the kind of wait.
  public mutating func troubled(by failure: ServerFailure, at now: Duration, random: Double) {
    let verdict = Verdict(failure)
    switch verdict {
    case .tooManyRequests: lasting.backoff.refused(at: now, random: random)
    case .forbidden: lasting.backoff.pause(for: Policy.pause, at: now)
    default: lasting.backoff.failed(at: now, random: random)
    }
    if verdict != .tooManyRequests { isSpreadDue = true }
  }
}

extension ServerGate.Hold: CustomStringConvertible {
  /// The reason without the length of the wait.
  public var reason: String {
    switch self {
    case .breaker: "the control server asked for fewer requests (429)"
    case .retryAfter: "the control server asked for a pause (Retry-After)"
    case .trouble: "sending pauses after trouble"
    }
  }

  /// The reason and the rest of the wait, in one line.
  public var description: String { "\(reason); the next request may leave in \(wait.components.seconds + 1) s" }
}
