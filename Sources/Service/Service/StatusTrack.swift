import Coverage
import Driving
import Positioning

/// The parts of the status that events change; ``Service/status()`` adds those that are read when asked for.
struct StatusTrack: Sendable {
  private var current = ServiceStatus(started: .current)
  /// When the last position came; `nil` before the first one.
  private var fixArrival: ContinuousClock.Instant?
  /// The totals of ended drives, by link.
  private var endedTotals: [String: DriveTotals] = [:]
  /// The elapsed time of the running drive in microseconds, by link; a link whose drive has ended is absent. The watchdog follows it.
  private(set) var driveProgress: [String: Int64] = [:]

  mutating func note(_ event: PositioningEvent) {
    switch event {
    case .fix(let fix):
      current.receiver.fix = fix.fix
      if fix.fix.coordinate != nil { fixArrival = fix.arrival }
    case .status(.devices(let paths)): current.receiver.paths = paths
    case .satellites(let satellites): current.receiver.satellites = satellites
    default: break
    }
  }

  /// A link is expected to report from the start.
  mutating func driveBegan(_ links: [String?]) {
    driveProgress = Dictionary(links.map { ($0 ?? "", 0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The status of a running drive, which comes once a second.
  mutating func note(_ links: [DriveStatus], isDriving: Bool) {
    for link in links { driveProgress[link.link ?? ""] = link.hasEnded ? nil : link.elapsed.inMicroseconds }
    if isDriving { current.links = links }
  }

  mutating func driveEnded(_ summaries: [DriveSummary]) {
    for summary in summaries { endedTotals[summary.link ?? "", default: DriveTotals()].add(summary.totals) }
    current.links = []
  }

  mutating func note(_ decision: ServiceDecision, at now: ContinuousClock.Instant) {
    (current.reason, current.state) = (decision.reason(at: now), decision.state)
  }

  func status(at now: ContinuousClock.Instant) -> ServiceStatus {
    var status = current
    status.receiver.fixAge = fixArrival.map { now - $0 }
    status.totals = endedTotals
    for link in status.links { status.totals[link.link ?? "", default: DriveTotals()].add(link.totals) }
    return status
  }

  /// The fences that an ended drive could not write, or else those of the running one.
  func disk(_ decision: ServiceDecision, freeBytes: Int64?) -> ServiceStatus.Disk {
    let unsaved = decision.unsaved
    return ServiceStatus.Disk(
      freeBytes: freeBytes,
      unsavedFences: unsaved?.endangered ?? current.links.reduce(0) { $0 + $1.unsavedFences },
      trouble: unsaved.map(\.trouble) ?? current.links.compactMap(\.diskTrouble).first)
  }
}
