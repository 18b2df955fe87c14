import Coverage
import NetworkPath
import Positioning

/// Collects a drive's figures for operators: its status once a second, the total of its pings, and the reason when no
/// ping was sent. A pure value.
struct DriveReporting: Hashable, Sendable {
  private var status = DriveStatus()
  private(set) var total = PingTally()
  private var silence = Silence()
  private var gpsTrouble: String?
  var isCaptureInTrouble = false

  /// - Parameter link: The link's name, if there are several links.
  init(link: String?) { status.link = link }

  // MARK: Inputs

  mutating func note(_ fix: Fix, isAccurate: Bool) { (status.fix, status.isAccurate) = (fix, isAccurate) }

  mutating func note(_ change: PositioningStatus) {
    switch change {
    case .disconnected: gpsTrouble = "no gpsd"
    case .noFix: gpsTrouble = gpsTrouble ?? "no position"
    case .connected, .positioned: gpsTrouble = nil
    case .connecting, .devices, .clockDifference, .complaint: break
    }
  }

  mutating func note(_ counters: PositioningCounters) { status.positioning = counters }

  mutating func note(_ reading: PathReading) { status.network = reading }

  mutating func note(_ reading: RadioReading) { status.radio = reading }

  mutating func count(_ outcome: PingOutcome) {
    status.lastSecond.count(outcome)
    total.count(outcome)
    status.totals.count(outcome)
  }

  /// Must be called once a second, and at the end.
  mutating func noteSilence(path: Path, isClockTrusted: Bool, tests: ServerTests, isPinging: Bool) {
    guard total.pings == 0 else { return }
    silence.note(
      Silence.Situation(
        path: path, network: status.network, isClockTrusted: isClockTrusted, isRefused: tests.isRefused,
        trouble: tests.lastTrouble, isPinging: isPinging))
  }

  // MARK: Results

  /// What the drive has counted, with its fences.
  func totals(fences: Int) -> DriveTotals {
    var totals = status.totals
    totals.fences = fences
    return totals
  }

  /// The modem's last report.
  var radio: RadioReading? { status.radio }

  /// Why no ping was sent; `nil` when one was sent.
  var silenceReason: String? { total.pings == 0 ? silence.reason : nil }

  /// The present status of the drive, with the pings since the last report.
  mutating func report(
    of engine: Engine, journal: DriveJournal, tests: ServerTests, isClockTrusted: Bool, at now: DriveTime
  ) -> DriveStatus {
    defer { status.lastSecond = PingTally() }
    status.elapsed = now.sinceStart
    status.fences = engine.fences.count
    status.totals.fences = engine.fences.count
    status.technology = engine.technology
    status.testUUID = engine.sessions.last?.testUUID
    status.openFence = engine.openFence
    status.diskTrouble = journal.trouble
    status.unsavedFences = journal.trouble == nil ? 0 : journal.unsavedFenceCount
    status.warnings = warnings(engine, journal, tests, isClockTrusted)
    return status
  }

  private func warnings(
    _ engine: Engine, _ journal: DriveJournal, _ tests: ServerTests, _ isClockTrusted: Bool
  ) -> [String] {
    var warnings = engine.warnings.filter { $0.to == nil }.map { warning in
      switch warning.kind {
      case .waitingForGPS: gpsTrouble.map { "\(DriveStatus.waitingForGPS) (\($0))" } ?? DriveStatus.waitingForGPS
      case .wifi: status.network?.obstacle ?? "on Wi-Fi, not measuring"
      }
    }
    if !isClockTrusted { warnings.append("the clock is not set, not measuring") }
    let missing = DriveStatus.warning(
      ofMissingTest: tests.session.inUse == nil && isClockTrusted, isRefused: tests.isRefused, on: engine.path)
    if let warning = tests.warning ?? missing { warnings.append(warning) }
    if let obstacle = status.radio?.obstacle { warnings.append(obstacle) }
    if let trouble = journal.trouble { warnings.append(trouble) }
    if isCaptureInTrouble { warnings.append("the packet capture is not complete") }
    return warnings
  }
}
