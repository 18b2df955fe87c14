import Store

/// The state of a pass. A pure value.
struct Pass: Sendable {
  let mode: PassMode
  let urgency: ServerGate.Urgency
  /// The lowest id of the running drives: the pass changes nothing of them, nor of later ones.
  let running: Int64?
  /// The pass's requests, which share one call at the gate.
  let exchange = GatedServer.Exchange()
  /// The sessions to send, until their batches are in the queue.
  var sessions: [Int64] = []
  /// The batches still to be sent, in order.
  var queue: [Batch] = []
  /// The speed tests still to be sent, in order.
  var speedTests: [StoredSpeedTest] = []
  var report = PassReport()
  var rule = TroubleRule()
  var doubts = ClockDoubts()
  /// Whether the history was read for the batches that may have been sent.
  var areDoubtsResolved = false
  private var refusalsInARow = 0

  /// This many refusals in a row end a background pass: if a server refuses everything, a whole fleet must not ask it
  /// about each single fence.
  static let refusalLimit = 20

  init(mode: PassMode, urgency: ServerGate.Urgency, running: Int64?) {
    (self.mode, self.urgency, self.running) = (mode, urgency, running)
  }

  /// The next batch to send. A batch that may have been sent comes last, after the history was read.
  var next: Batch? {
    queue.first { ($0.state == .waiting || areDoubtsResolved) && ($0.test != nil || !rule.makesNoTests) }
  }

  mutating func remove(_ batch: Batch) { queue.removeAll { $0.id == batch.id } }

  /// Replaces the batches of the queue by their present state in the store. A batch that is gone from the store
  /// leaves the queue.
  mutating func refresh(with batches: [Batch]) {
    let byID = Dictionary(batches.map { ($0.id, $0) }) { $1 }
    queue = queue.compactMap { byID[$0.id] }
  }

  /// Reports the first failure only.
  mutating func note(_ failure: ServerFailure?) { report.firstFailure = report.firstFailure ?? failure }

  mutating func accepted(_ batch: Batch) {
    refusalsInARow = 0
    rule.succeeded()
    report.tally.accepted(batch)
    remove(batch)
  }

  /// Records that the server refused the content of `batch`. A refusal is an answer, so it is no trouble of the
  /// server.
  /// - Returns: Whether this pass has met enough refusals to end.
  mutating func refused(_ batch: Batch) -> Bool {
    refusalsInARow += 1
    rule.succeeded()
    remove(batch)
    return urgency == .background && refusalsInARow >= Self.refusalLimit
  }

  /// Leaves `batch` to another pass.
  mutating func setAside(_ batch: Batch) {
    report.tally.kept(session: batch.session)
    remove(batch)
  }

  mutating func quarantined(_ batch: Batch, mayHaveArrived: Bool = false) {
    report.tally.quarantined(batch, mayHaveArrived: mayHaveArrived)
    remove(batch)
  }

  /// Counts the batches and speed tests that were not sent.
  mutating func complete() {
    for session in sessions + queue.map(\.session) { report.tally.kept(session: session) }
    for test in speedTests {
      let hasResult = test.state == .submitted || report.speedTests.withResult.contains(test.testUUID)
      report.speedTests.keep(hasResult ? .qos : .result)
    }
  }

  var summary: String {
    var parts = [report.tally.summary] + (report.speedTests.summary.map { [$0] } ?? [])
    if report.wasStopped { parts.append("stopped") }
    if let hold = report.hold { parts.append("\(hold)") }
    return parts.joined(separator: ", ")
  }
}

/// Decisions of a pass that wait until a second clock confirms the host's clock.
struct ClockDoubts: Hashable, Sendable {
  /// Fences in the queue that are too old to be sent, by a clock that no other clock confirms.
  var oldFences = 0
  /// Whether drives would be dated again by a clock that no other clock confirms.
  var hasNewDates = false
  /// Whether the pass has asked the server for the time because of such new dates.
  var hasAskedForTime = false
}

/// Distinguishes trouble with one batch from trouble of the server. A pure value, for one pass.
///
/// One failed batch says nothing about the others: it moves behind them. Two different batches that fail one after
/// the other, with no success between, mean trouble of the server. Requests for tests are judged apart: a server that
/// makes no tests (without a ping server for this country, for instance) still accepts batches that have one.
struct TroubleRule: Hashable, Sendable {
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
