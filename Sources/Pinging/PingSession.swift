import Coverage

/// Decides when the control server is asked for a test (spec 3.5). A pure value: time comes in as an argument.
///
/// One request at a time. After a failure the next attempt waits, twice as long each time, so that a server that is down, or
/// that hands out tokens which its ping server refuses, is not hammered.
public struct PingSession: Hashable, Sendable {
  public struct Policy: Hashable, Sendable {
    public var retryDelay: Duration = .seconds(1)
    public var retryDelayMax: Duration = .seconds(60)
    /// A token is good for 4 h (spec 3.3); a session ends well before.
    public var longestSession: Duration = .seconds(4 * 3600 - 120)

    public init() {}
  }

  private enum State: Hashable {
    case idle
    case requesting(launched: DriveTime)
    case active(ends: DriveTime)
  }

  private let policy: Policy
  private var state = State.idle
  private var nextAttempt = DriveTime.start
  private var delay: Duration
  private var hasProvenItself = false

  public init(policy: Policy = Policy()) {
    self.policy = policy
    delay = policy.retryDelay
  }

  /// Whether to ask for a test now. After `true`, ``granted(limit:at:)`` or ``failed(at:)`` must follow.
  public mutating func wantsRequest(at now: DriveTime, path: Path) -> Bool {
    guard path != .wifi else { return false }
    if case .active(let ends) = state, ends <= now { state = .idle }
    guard state == .idle, nextAttempt <= now else { return false }
    state = .requesting(launched: now)
    return true
  }

  /// The server gave a test.
  /// - Parameter limit: How long the server lets a session last.
  public mutating func granted(limit: Duration?, at now: DriveTime) {
    guard case .requesting(let launched) = state else { return }
    state = .active(ends: launched + min(limit ?? policy.longestSession, policy.longestSession))
    hasProvenItself = false
  }

  /// The request came to nothing.
  public mutating func failed(at now: DriveTime) {
    state = .idle
    backOff(from: now)
  }

  /// A ping of the current session was answered: the way to the server and the token are good.
  public mutating func answered() {
    hasProvenItself = true
    delay = policy.retryDelay
  }

  /// The ping server refused a ping of the current session (RE01): its token is of no more use.
  public mutating func refused(at now: DriveTime) {
    guard case .active = state else { return }
    state = .idle
    if hasProvenItself { nextAttempt = now } else { backOff(from: now) }
  }

  private mutating func backOff(from now: DriveTime) {
    nextAttempt = now + delay
    delay = min(delay * 2, policy.retryDelayMax)
  }
}
