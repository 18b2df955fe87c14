/// The waits and limits of ``TestSelection``: `recovery.*` of the configuration (docs/protocol.md, 2).
public struct RecoveryPolicy: Hashable, Sendable {
  /// The number of consecutive unanswered pings after which another test is requested.
  public var failureThreshold = 30
  /// The first wait between two replacements of a test; each further one is twice as long.
  public var backoff: Duration = .seconds(10)
  /// The longest wait between two replacements of a test.
  public var backoffMax: Duration = .seconds(120)
  /// The time limit of a request for a test, except for the first of a drive.
  public var prepareTimeout: Duration = .seconds(15)
  /// The time limit from the answer to the first ping, in which the ping server's name is resolved.
  public var activationTimeout: Duration = .seconds(5)
  /// The first wait after a failed request; each further one is twice as long.
  public var retryDelay: Duration = .seconds(1)
  /// The longest wait after a failed request.
  var retryDelayMax: Duration = .seconds(60)
  /// When a test has been in use for this time, a refusal (RE01) of it counts as the first one.
  var provenAfter: Duration = .seconds(60)
  /// The longest use of a test. A token is valid for 4 h (docs/protocol.md, 1.3); the session ends before.
  var longestSession: Duration = .seconds(4 * 3600 - 120)

  public init() {}

  /// How long before its end a test is replaced, so that pings have no gap. It leaves time for two requests, and is at most a tenth of the
  /// test.
  func renewalLead(of life: Duration) -> Duration { min(backoff + prepareTimeout + activationTimeout, life / 10) }

  /// How long a test may be used, from its request on (docs/protocol.md, 2).
  /// - Parameter limit: The server's limit for the duration of the test; `nil`: none.
  public func life(limit: Duration?) -> Duration { min(limit ?? longestSession, longestSession) }
}
