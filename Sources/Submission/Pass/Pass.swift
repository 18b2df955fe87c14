import ControlServer
import DriveStore

/// The state of a pass. A pure value.
struct Pass: Sendable {
  let mode: PassMode
  let urgency: ServerGate.Urgency
  /// The first of the drives that are being recorded: the pass touches nothing of them, nor of later ones.
  let running: Int64?
  /// The pass's requests.
  let exchange = GatedServer.Exchange()
  /// The batches that are still to be sent, in this order.
  var queue: [Batch] = []
  var report = Report()
  var tally = PassTally()
  var judge = TroubleJudge()
  var doubts = ClockDoubts()
  /// Whether the history was asked about the batches that may have left.
  var areDoubtsSettled = false
  private var refusalsInARow = 0

  /// So many refusals in a row end a pass in the background: a server that refuses everybody is not to be asked by a whole fleet about
  /// each single fence.
  static let refusalLimit = 20

  init(mode: PassMode, urgency: ServerGate.Urgency, running: Int64?) {
    self.mode = mode
    self.urgency = urgency
    self.running = running
  }

  /// The next batch to send. One that may have left waits until the history was asked, after all others.
  var next: Batch? {
    queue.first { ($0.state == .waiting || areDoubtsSettled) && ($0.test != nil || !judge.makesNoTests) }
  }

  mutating func remove(_ batch: Batch) { queue.removeAll { $0.id == batch.id } }

  /// Replaces the batches of the queue by their present state; one that has none any more leaves the queue.
  mutating func refresh(with batches: [Batch]) {
    let byID = Dictionary(batches.map { ($0.id, $0) }) { $1 }
    queue = queue.compactMap { byID[$0.id] }
  }

  /// Reports the first failure only.
  mutating func note(_ failure: ServerFailure?) { report.firstFailure = report.firstFailure ?? failure }

  mutating func accepted(_ batch: Batch) {
    refusalsInARow = 0
    judge.succeeded()
    tally.accepted(batch)
    remove(batch)
  }

  /// The server refused a batch as such: that it answers at all is no trouble.
  /// - Returns: Whether the pass has met enough refusals.
  mutating func refused(_ batch: Batch) -> Bool {
    refusalsInARow += 1
    judge.succeeded()
    remove(batch)
    return urgency == .background && refusalsInARow >= Self.refusalLimit
  }

  /// `batch` waits for another pass.
  mutating func setAside(_ batch: Batch) {
    tally.kept(batch)
    remove(batch)
  }

  mutating func quarantined(_ batch: Batch) {
    tally.quarantined(batch)
    remove(batch)
  }

  /// Counts what is left.
  mutating func complete() {
    for batch in queue { tally.kept(batch) }
    tally.complete(&report)
  }

  var summary: String {
    var parts = [tally.summary]
    if report.wasStopped { parts.append("stopped") }
    if let hold = report.hold { parts.append("\(hold)") }
    return parts.joined(separator: ", ")
  }
}
