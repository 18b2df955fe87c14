import ControlServer

/// Tells trouble with one batch from trouble of the server. A pure value, for one pass.
///
/// One batch that fails says nothing about the others: it goes behind them. Two different batches that fail one after the other, with
/// nothing in between that succeeds, say that it is the server. Requests for tests are a case of their own: a server that makes none
/// (without a ping server for this country, for instance) still takes batches that have one.
struct TroubleJudge: Hashable, Sendable {
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
  /// Whether batches without a test have to wait for another pass.
  private(set) var makesNoTests = false
  private var last: Trouble?

  private struct Trouble: Hashable {
    let batch: Int64
    let step: RequestStep
  }

  /// The server took a batch, or refused one as such.
  mutating func succeeded() { (unresolved, last) = (nil, nil) }

  /// 429, while the circuit breaker is closed.
  mutating func refused(_ failure: ServerFailure) { unresolved = failure }

  mutating func failed(_ batch: Int64, at step: RequestStep, _ failure: ServerFailure) -> Finding {
    let before = last
    last = Trouble(batch: batch, step: step)
    unresolved = failure
    // A history that fails holds up nothing but what it is asked about.
    guard step != .history, let before, before.batch != batch else { return .batch }
    guard step == .coverageRequest, before.step == .coverageRequest else { return .server }
    makesNoTests = true
    return .noTests
  }
}
