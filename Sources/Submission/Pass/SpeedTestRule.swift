import Store

/// Decides the next step for a speed test after its request failed. A pure value.
///
/// The server accepts exactly one result for a test. If it answers that the test is closed, it has the result, provided that an earlier
/// request may have arrived.
enum SpeedTestRule {
  /// The next step for a test.
  enum Consequence: Hashable, Sendable {
    /// The server has it.
    case submitted
    /// The server refuses it: it stays stored.
    case quarantine
    /// Move it behind the others.
    case setAside
    /// 429: continue with the next one after a moment.
    case putOff
  }

  /// - Parameters:
  ///   - failure: How the request failed.
  ///   - mayHaveArrived: Whether an earlier request was sent, and its answer is not known.
  static func consequence(of failure: ServerFailure, mayHaveArrived: Bool) -> Consequence {
    switch Verdict(failure) {
    case .tooManyRequests: .putOff
    case .rejected, .noStartedTest: isClosed(failure) && mayHaveArrived ? .submitted : .quarantine
    case .unreachable, .doubtful, .trouble, .forbidden, .unknownClient: .setAside
    }
  }

  /// Whether the server refuses the test as not started (docs/protocol.md, 6.2).
  private static func isClosed(_ failure: ServerFailure) -> Bool {
    guard case .refused(_, let message) = failure else { return false }
    let text = message.lowercased()
    return text.contains("invalid test status") || text.contains("no started test")
  }
}
