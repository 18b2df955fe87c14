import Store

/// The state of a pass. A pure value.
struct Pass: Sendable {
  let mode: PassMode
  let urgency: ServerGate.Urgency
  /// The lowest id of the running drives: the pass changes nothing of them, nor of later ones.
  let running: Int64?
  /// The pass's requests, which share one call at the gate.
  let exchange = GatedServer.Exchange()
  /// The batches still to be sent, in order.
  var queue: [Batch] = []
  /// The speed tests still to be sent, in order.
  var speedTests: [StoredSpeedTest] = []
  var report = PassReport()
  var judge = TroubleJudge()
  var doubts = ClockDoubts()
  /// Whether the history was read for the batches that may have been sent.
  var areDoubtsResolved = false
  private var refusalsInARow = 0

  /// This many refusals in a row end a background pass: if a server refuses everything, a whole fleet must not ask it
  /// about each single fence.
  static let refusalLimit = 20

  init(mode: PassMode, urgency: ServerGate.Urgency, running: Int64?) {
    self.mode = mode
    self.urgency = urgency
    self.running = running
  }

  /// The next batch to send. A batch that may have been sent comes last, after the history was read.
  var next: Batch? {
    queue.first { ($0.state == .waiting || areDoubtsResolved) && ($0.test != nil || !judge.makesNoTests) }
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
    judge.succeeded()
    report.tally.accepted(batch)
    remove(batch)
  }

  /// Records that the server refused the content of `batch`. A refusal is an answer, so it is no trouble of the
  /// server.
  /// - Returns: Whether this pass has met enough refusals to end.
  mutating func refused(_ batch: Batch) -> Bool {
    refusalsInARow += 1
    judge.succeeded()
    remove(batch)
    return urgency == .background && refusalsInARow >= Self.refusalLimit
  }

  /// Leaves `batch` to another pass.
  mutating func setAside(_ batch: Batch) {
    report.tally.kept(batch)
    remove(batch)
  }

  mutating func quarantined(_ batch: Batch) {
    report.tally.quarantined(batch)
    remove(batch)
  }

  /// Counts the batches that were not sent.
  mutating func complete() {
    for batch in queue { report.tally.kept(batch) }
    report.speedTests.kept += speedTests.count
  }

  var summary: String {
    var parts = [report.tally.summary] + (report.speedTests.summary.map { [$0] } ?? [])
    if report.wasStopped { parts.append("stopped") }
    if let hold = report.hold { parts.append("\(hold)") }
    return parts.joined(separator: ", ")
  }
}
