import Coverage
import Store

/// Decides the next step for a batch after one of its requests failed. A pure value, for one batch in one pass.
struct BatchRule: Hashable, Sendable {
  enum Consequence: Hashable, Sendable {
    /// Register the device again, then send the batch again.
    case registerAgain
    /// Read the history. If the batch has not arrived, and is not in doubt, request another test and send it again.
    case replaceTest
    /// End the pass: no batch can be sent without this request.
    case endPass
    /// Move the batch behind the others.
    case setAside
    /// Leave the batch for the history of a later pass: the server answered, and an earlier request may have arrived.
    case wait
    /// Split the batch in two; quarantine a single fence.
    case refuse
    /// 429: continue with the next batch after a moment.
    case putOff
    /// The server accepts other batches and answers this one without storing it. Read the history; if the batch has
    /// not arrived, it counts as refused.
    case suspect
  }

  private var hasRegisteredAgain = false
  private var hasReplacedTest = false

  /// - Parameters:
  ///   - isSuspect: Whether the server accepted other batches in this pass, and this one had trouble twice before.
  ///   - isInDoubt: ``isInDoubt(_:at:)``. Then no fence of it goes to another test: it waits for the history of a later pass.
  mutating func consequence(
    of failure: ServerFailure, at step: RequestStep, isSuspect: Bool, isInDoubt: Bool = false
  ) -> Consequence {
    let verdict = Verdict(failure)
    if verdict == .unknownClient, !hasRegisteredAgain {
      hasRegisteredAgain = true
      return .registerAgain
    }
    guard step == .coverageResult else { return step == .settings ? .endPass : .setAside }
    switch verdict {
    case .rejected where isInDoubt: return .wait
    case .noStartedTest where !hasReplacedTest:
      hasReplacedTest = true
      return .replaceTest
    case .rejected: return .refuse
    case .tooManyRequests: return .putOff
    case .doubtful where isSuspect && !isInDoubt && Self.isSwallowed(failure): return .suspect
    case .doubtful, .trouble, .forbidden, .unknownClient, .noStartedTest, .unreachable: return .setAside
    }
  }

  /// How long an earlier request may be under way in the server, or be missing in its history: a refusal within this time can mean that
  /// the fences have arrived.
  static let doubtLasts: Duration = .seconds(3600)

  /// Whether an earlier request of `batch` left without an answer so lately that the history proves nothing.
  static func isInDoubt(_ batch: Batch, at now: WallTime) -> Bool {
    batch.state == .sending && batch.sent.map { (now - $0).magnitude < doubtLasts } ?? false
  }

  /// Whether the batch has certainly not arrived, so that no history check is needed.
  /// - Parameter isInDoubt: ``isInDoubt(_:at:)``: then an earlier request can be why the server has no started test, or stores nothing.
  static func hasNotArrived(after failure: ServerFailure, at step: RequestStep, isInDoubt: Bool = false) -> Bool {
    step == .coverageResult
      && (Verdict(failure).isDefiniteNo || isInDoubt && (Verdict(failure) == .noStartedTest || isSwallowed(failure)))
  }

  /// A server answers 200 without a JSON object when it could not store a result; so does a captive portal
  /// (docs/protocol.md, 3.1).
  private static func isSwallowed(_ failure: ServerFailure) -> Bool {
    if case .notTheServer(200..<300, _) = failure { true } else { false }
  }
}

/// Decides the next step for a speed test after its request failed. A pure value.
///
/// The server accepts exactly one result for a test. If it answers that the test is closed, it has the result, provided that an earlier
/// request may have arrived.
enum SpeedTestRule {
  enum Consequence: Hashable, Sendable {
    case submitted
    /// The server refuses it: it stays stored.
    case quarantine
    /// Move it behind the others.
    case setAside
    /// 429: continue with the next one after a moment.
    case putOff
  }

  /// - Parameter mayHaveArrived: Whether an earlier request was sent, and its answer is not known.
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
