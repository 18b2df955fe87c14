import Coverage

/// How long ``PingSession`` waits for what: `recovery.*` of the configuration (spec 1.4).
public struct RecoveryPolicy: Hashable, Sendable {
  /// Pings without an answer, in a row, that make it ask for another test.
  public var failureThreshold = 30
  /// Between two recoveries: at first, and at most; doubling.
  public var backoff: Duration = .seconds(10)
  public var backoffMax: Duration = .seconds(120)
  /// Bound on a request for a test, but for the first of a drive.
  public var prepareTimeout: Duration = .seconds(15)
  /// Bound on what comes between the answer and the first ping: the look-up of the ping server's name.
  public var activationTimeout: Duration = .seconds(5)
  /// After a request that failed: at first, and at most; doubling.
  public var retryDelay: Duration = .seconds(1)
  public var retryDelayMax: Duration = .seconds(60)
  /// How long a test has to be used before a refusal (RE01) of it counts as the first one.
  public var provenAfter: Duration = .seconds(60)
  /// A token is good for 4 h (spec 3.3); a session ends before.
  public var longestSession: Duration = .seconds(4 * 3600 - 120)

  public init() {}

  /// How long a test may be used, from the request for it on (spec 3.5).
  /// - Parameter limit: How long the server lets it last; `nil` where the server does not say.
  public func life(limit: Duration?) -> Duration { min(limit ?? longestSession, longestSession) }
}

/// Waits that grow: the first, the second, and from there on twice as long each time up to the last.
struct RetryLadder: Hashable, Sendable {
  private let first: Duration
  private let second: Duration
  private let last: Duration
  private var step = 0

  init(first: Duration, second: Duration? = nil, last: Duration) {
    self.first = first
    self.second = second ?? first * 2
    self.last = last
  }

  mutating func next() -> Duration {
    defer { step += 1 }
    guard step > 0 else { return min(first, last) }
    // Beyond 2^20 every ladder has reached its end.
    return min(second * (1 << min(step - 1, 20)), last)
  }

  mutating func reset() { step = 0 }
}
