import ControlServer

/// Decides how a batch goes on after a request of it has failed. A pure value, for one batch in one pass.
struct AnswerRule: Hashable, Sendable {
  enum Consequence: Hashable, Sendable {
    /// The device registers again; then the batch is sent again.
    case registerAgain
    /// The history tells whether the batch has arrived; if not, it gets another test and is sent again.
    case replaceTest
    /// Without this request no batch can be sent.
    case endPass
    /// The batch goes behind the others.
    case setAside
    /// The batch is split in two; a single fence is quarantined.
    case refuse
    /// 429: the next batch may follow after a moment.
    case putOff
    /// The server swallows this batch and takes others: the history tells whether it has arrived; if not, it counts as refused.
    case suspect
  }

  private var hasRegisteredAgain = false
  private var hasReplacedTest = false

  /// - Parameter isSuspect: Whether the server took other batches in this pass, and failed this one before.
  mutating func consequence(of failure: ServerFailure, at step: RequestStep, isSuspect: Bool) -> Consequence {
    let verdict = Verdict(failure)
    if verdict == .unknownClient, !hasRegisteredAgain {
      hasRegisteredAgain = true
      return .registerAgain
    }
    guard step == .coverageResult else { return step == .settings ? .endPass : .setAside }
    switch verdict {
    case .noStartedTest where !hasReplacedTest:
      hasReplacedTest = true
      return .replaceTest
    case .rejected: return .refuse
    case .tooManyRequests: return .putOff
    case .doubtful where isSuspect && Self.isSwallowed(failure): return .suspect
    case .doubtful, .trouble, .forbidden, .unknownClient, .noStartedTest, .unreachable: return .setAside
    }
  }

  /// Whether the batch has certainly not arrived, so that it need not be asked about.
  static func hasNotArrived(after failure: ServerFailure, at step: RequestStep) -> Bool {
    step == .coverageResult && Verdict(failure).isDefiniteNo
  }

  /// A server answers 200 without a JSON object when it could not store a result; so does a captive portal
  /// (docs/protocol.md, 3.1).
  private static func isSwallowed(_ failure: ServerFailure) -> Bool {
    if case .notTheServer(200..<300, _) = failure { true } else { false }
  }
}
