import Coverage
import DriveStore

/// Counts the results of a pass by session and fence.
struct PassTally: Hashable, Sendable {
  private(set) var fencesSent = 0
  private var sent: Set<Int64> = []
  private var kept: Set<Int64> = []
  private var quarantined: Set<Int64> = []

  mutating func accepted(_ batch: Batch) {
    sent.insert(batch.session)
    fencesSent += batch.fences
  }

  mutating func quarantined(_ batch: Batch) { quarantined.insert(batch.session) }

  mutating func kept(_ batch: Batch) { kept.insert(batch.session) }

  /// Writes the counts into `report`. A session with a fence that waits or was refused does not count as sent.
  func complete(_ report: inout Report) {
    report.fencesSent = fencesSent
    report.sessionsSent = sent.subtracting(kept).subtracting(quarantined).count
    report.sessionsKept = kept.count
    report.sessionsQuarantined = quarantined.count
  }

  var summary: String {
    var parts = ["sent \(counted(fencesSent, "fence")) of \(counted(sent.count, "session"))"]
    if !kept.isEmpty { parts.append("\(counted(kept.count, "session")) kept for later") }
    if !quarantined.isEmpty { parts.append("\(quarantined.count) refused") }
    return parts.joined(separator: ", ")
  }
}
