/// Distinguishes trouble with one batch from trouble of the server. A pure value, for one pass.
///
/// One failed batch says nothing about the others: it moves behind them. Two different batches that fail one after
/// the other, with no success between, mean trouble of the server. Requests for tests are judged apart: a server that
/// makes no tests (without a ping server for this country, for instance) still accepts batches that have one.
struct TroubleJudge: Hashable, Sendable {
  /// How far a trouble reaches.
  enum Finding: Hashable, Sendable {
    /// Another batch may succeed.
    case batch
    /// Another batch may succeed if it has a test.
    case noTests
    /// No batch can succeed now.
    case server
  }

  /// The last trouble, if nothing has succeeded since.
  private(set) var unresolved: ServerFailure?
  /// Whether batches without a test must wait for another pass.
  private(set) var makesNoTests = false
  private var last: Trouble?

  /// A trouble, to compare the next one with it.
  private struct Trouble: Hashable {
    let batch: Int64
    let step: RequestStep
  }

  /// The server accepted a batch, or refused its content.
  mutating func succeeded() { (unresolved, last) = (nil, nil) }

  /// 429 while the circuit breaker is closed.
  mutating func refused(_ failure: ServerFailure) { unresolved = failure }

  mutating func failed(_ batch: Int64, at step: RequestStep, _ failure: ServerFailure) -> Finding {
    let before = last
    last = Trouble(batch: batch, step: step)
    unresolved = failure
    // A history that cannot be read delays only the batches that it was read for.
    guard step != .history, let before, before.batch != batch else { return .batch }
    guard step == .coverageRequest, before.step == .coverageRequest else { return .server }
    makesNoTests = true
    return .noTests
  }
}
