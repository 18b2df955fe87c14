import Coverage
import Store

/// Counts the results of a pass by session and fence. A session with a fence that waits or is quarantined does not count as sent.
struct PassTally: Hashable, Sendable {
  private(set) var fencesSent = 0
  private var touched: Set<Int64> = []
  private(set) var kept: Set<Int64> = []
  private(set) var quarantined: Set<Int64> = []
  /// Those of ``quarantined`` with fences that the server may have.
  private(set) var inDoubt: Set<Int64> = []
  /// The sessions whose fences the server now has completely.
  var sent: Set<Int64> { touched.subtracting(kept).subtracting(quarantined) }

  init() {}

  init(
    fences: Int, of sent: Set<Int64> = [], kept: Set<Int64> = [], quarantined: Set<Int64> = [],
    inDoubt: Set<Int64> = []
  ) {
    (fencesSent, touched, self.kept, self.quarantined) = (fences, sent, kept, quarantined)
    self.inDoubt = inDoubt
  }

  mutating func accepted(_ batch: Batch) {
    touched.insert(batch.session)
    fencesSent += batch.fences
  }

  mutating func quarantined(_ batch: Batch, mayHaveArrived: Bool) {
    quarantined.insert(batch.session)
    if mayHaveArrived { inDoubt.insert(batch.session) }
  }

  mutating func kept(session: Int64) { kept.insert(session) }

  /// The same, to be added to the tally of another store: there the same ids mean other sessions.
  var ofOtherStore: PassTally {
    func apart(_ sessions: Set<Int64>) -> Set<Int64> { Set(sessions.map { ~$0 }) }
    return PassTally(
      fences: fencesSent, of: apart(touched), kept: apart(kept), quarantined: apart(quarantined),
      inDoubt: apart(inDoubt))
  }

  /// The tally of this pass and a later one, which may have met the same sessions.
  func followed(by later: PassTally) -> PassTally {
    let completed = later.sent
    return PassTally(
      fences: fencesSent + later.fencesSent, of: touched.union(later.touched),
      kept: kept.subtracting(completed).union(later.kept),
      quarantined: quarantined.subtracting(completed).union(later.quarantined),
      inDoubt: inDoubt.subtracting(completed).union(later.inDoubt))
  }

  var summary: String {
    var parts = ["sent \(counted(fencesSent, "fence")) of \(counted(touched.count, "session"))"]
    if !kept.isEmpty { parts.append("\(counted(kept.count, "session")) kept for later") }
    if !quarantined.isEmpty { parts.append("\(quarantined.count) quarantined") }
    return parts.joined(separator: ", ")
  }
}
