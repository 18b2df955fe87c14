import Coverage

/// Finds the outages of a link in its fences, where its log is gone: fences in which pings were sent and none was answered. Outages
/// within a fence with an answer are not seen, so there are at least these.
struct FenceOutages {
  private var ended = Outages()
  private var current: (outage: Outages.Outage, until: DriveTime)?
  private var lastNumber: Int?

  /// The outages up to the last fence.
  var outages: Outages {
    var outages = ended
    if let current { outages.add(current.outage) }
    return outages
  }

  /// Adds a fence; those of a link come in order, whatever their sessions.
  mutating func add(_ fence: ReportedFence) {
    let isNext = lastNumber.map { $0.saturatingAdding(1) == fence.fence.number } ?? false
    lastNumber = fence.fence.number
    if !isNext { end() }
    // A short fence without pings is a pause as between two fences.
    if fence.fence.pings <= 0 { return }
    guard Reception(fence.fence) == .noAnswer else { return end() }
    if let current, !(0...Outages.longestPause).contains((fence.fence.entered - current.until).inMicroseconds) { end() }
    let began = fence.driveStarted + fence.fence.entered
    var outage = current?.outage ?? Outages.Outage(began: began, place: fence.fence.centre, microseconds: 0, pings: 0)
    outage.microseconds = ((fence.driveStarted + fence.exited) - outage.began).inMicroseconds
    outage.pings = outage.pings.saturatingAdding(fence.fence.pings)
    current = (outage, fence.exited)
  }

  private mutating func end() {
    if let current { ended.add(current.outage) }
    current = nil
  }
}
