import Coverage
import Networking
import Pinging
import Positioning

/// Collects a drive's figures for operators: its status once a second, its totals, and the reason when no
/// ping was sent. A pure value.
struct DriveReporting: Hashable, Sendable {
  private var status = DriveStatus()
  private var silence = Silence()
  /// Why there is no position, as the connection to gpsd says; `nil` when there is one, or before it is known.
  private var gpsTrouble: PositioningStatus?
  private var hasReceiver = true
  /// Why this host could not send the last ping; `nil` when it was sent.
  private var sendTrouble: String?
  /// The address from which the ping server answers, if it is not the pinged one.
  private var otherAddress: PingAddress?
  /// Lines about trouble that the log has.
  private var logged: Set<String> = []
  /// Why pings could not be sent, the last reason of the drive.
  private(set) var unsentReason: String?
  var isCaptureInTrouble = false
  /// When the last event of equipment was recorded.
  private var lastEquipment: DriveTime?
  /// The least time between two such events for one SIM and modem: a connection that flaps must not fill log and store.
  private static let equipmentInterval: Duration = .seconds(60)

  /// - Parameters:
  ///   - link: The link's name, if there are several links.
  ///   - target: The user's own target; `nil` for the control server's.
  init(link: String?, target: DriveTarget? = nil) { (status.link, status.target) = (link, target) }

  // MARK: Inputs

  mutating func note(_ fix: Fix, isAccurate: Bool) { (status.fix, status.isAccurate) = (fix, isAccurate) }

  mutating func note(_ change: PositioningStatus) {
    switch change {
    case .disconnected: gpsTrouble = change
    case .noFix: gpsTrouble = gpsTrouble ?? change
    // gpsd lists its receivers before its stream starts, and the list comes only when it changes.
    case .connected: gpsTrouble = nil
    case .positioned: (gpsTrouble, hasReceiver) = (nil, true)
    case .devices(let paths): hasReceiver = !paths.isEmpty
    case .connecting, .clockDifference, .complaint: break
    }
  }

  mutating func note(_ counters: PositioningCounters) { status.positioning = counters }

  mutating func note(_ reading: PathReading) { status.network = reading }

  /// - Parameter equipment: What the session is measured with, as far as it is known.
  /// - Returns: The events of what is new in the reading.
  mutating func note(_ reading: RadioReading, since equipment: ModemEquipment?, at now: DriveTime) -> [Event.Kind] {
    let last = status.radio
    status.radio = reading
    let news = reading.equipment.flatMap { isDue($0, after: equipment, at: now) ? $0 : nil }
    if news != nil { lastEquipment = now }
    return [
      news.map(Event.Kind.equipment),
      last == nil || reading.technology != last?.technology ? .radio(reading.technology) : nil,
      reading.modem != last?.modem ? .modem(reading.modem) : nil,
    ].compactMap { $0 }
  }

  /// Whether the log should have the equipment now; what waits comes with a later reading.
  private func isDue(_ equipment: ModemEquipment, after known: ModemEquipment?, at now: DriveTime) -> Bool {
    guard equipment.adds(to: known) else { return false }
    guard let known, let lastEquipment, equipment.contradicts(known) else { return true }
    return equipment.sim != known.sim || equipment.model != known.model
      || now - lastEquipment >= Self.equipmentInterval
  }

  /// The link that carries the pings; `nil` before it is known.
  var network: PathReading? { status.network }
  /// Whether no ping can leave this host, though the kernel takes them.
  var isAtDeadEnd: Bool { network?.noWay == .deadEnd && network?.path != .wifi }

  /// - Parameter trouble: Why this host could not send the ping; `nil` when it was sent, or lost for want of a network.
  /// - Returns: Whether the log should have the trouble.
  mutating func count(_ outcome: PingOutcome, _ trouble: String?) -> Bool {
    if outcome.isAnswered { otherAddress = nil }
    status.lastSecond.count(outcome)
    status.totals.count(outcome)
    (sendTrouble, unsentReason) = (trouble, trouble ?? unsentReason)
    return trouble.map { isFirst($0) } ?? false
  }

  /// Whether the log should have the line: once for each in a drive, since trouble can come and go several times a second.
  private mutating func isFirst(_ line: String) -> Bool { logged.count < 16 && logged.insert(line).inserted }

  /// An answer came from another address than the pinged one.
  mutating func note(answerFrom address: PingAddress) -> [DriveEffect] {
    otherAddress = address
    let line = DriveStatus.answersElsewhere(address)
    return isFirst(line) ? [.log(.warning, line)] : []
  }

  /// Must be called once a second, and at the end.
  mutating func noteSilence(
    path: Path, isClockTrusted: Bool, tests: ServerTests, isPinging: Bool, at now: DriveTime
  ) {
    guard status.totals.pings == 0 else { return }
    silence.note(
      Silence.Situation(
        path: path, network: status.network, isClockTrusted: isClockTrusted, isRefused: tests.isRefused,
        trouble: tests.lastTrouble ?? (tests.lacksAddress(at: now) ? DriveStatus.addressUnknown : nil),
        sendTrouble: sendTrouble,
        isPinging: isPinging, hasTarget: status.target != nil))
  }

  // MARK: Results

  /// What the drive has counted.
  func totals(of engine: Engine) -> DriveTotals {
    var totals = status.totals
    totals.follow(engine)
    return totals
  }

  /// The modem's last report.
  var radio: RadioReading? { status.radio }

  /// Why no ping was sent; `nil` when one was sent.
  var silenceReason: String? { status.totals.pings == 0 ? silence.reason : nil }

  /// Why there is no fence although pings were sent, where the position is the reason at the end of the drive.
  func fencelessReason(of engine: Engine) -> String? {
    engine.fences.isEmpty && status.totals.pings > 0 ? positionCause(engine) : nil
  }

  /// The present status of the drive, with the pings since the last report.
  mutating func report(
    of engine: Engine, journal: DriveJournal, tests: ServerTests, isClockTrusted: Bool, at now: DriveTime
  ) -> DriveStatus {
    defer { status.lastSecond = PingTally() }
    status.elapsed = now.sinceStart
    status.fences = engine.fences.count
    status.totals = totals(of: engine)
    status.technology = engine.technology
    status.testUUID = engine.sessions.last?.testUUID
    status.openFence = engine.openFence
    status.diskTrouble = journal.trouble
    status.unsavedFences = journal.trouble == nil ? 0 : journal.unsavedFenceCount
    status.warnings = warnings(engine, journal, tests, isClockTrusted)
    return status
  }

  /// The causes because of which figures are missing now, each in one line.
  private func warnings(
    _ engine: Engine, _ journal: DriveJournal, _ tests: ServerTests, _ isClockTrusted: Bool
  ) -> [String] {
    let obstacle = status.network?.obstacle ?? (engine.path == .wifi ? "on Wi-Fi, not measuring" : nil)
    let causes = [
      positionCause(engine),
      obstacle, isClockTrusted ? nil : DriveStatus.clockNotSet,
      testCause(tests, isClockTrusted, on: engine, isBlocked: obstacle != nil),
      obstacle == nil ? sendTrouble.map { "pings are not sent: \($0)" } : nil,
      otherAddress.map(DriveStatus.answersElsewhere),
      obstacle == nil && isUnanswered ? DriveStatus.noAnswer(from: status.target) : nil,
      status.radio?.obstacle, journal.trouble, isCaptureInTrouble ? "the packet capture is not complete" : nil,
    ]
    return causes.compactMap { $0 }
  }

  private var isUnanswered: Bool {
    let totals = status.totals
    return totals.pings >= 50 && totals.lost == totals.pings && totals.late == 0
  }

  /// Why there is no accurate position; `nil` when there is one.
  private func positionCause(_ engine: Engine) -> String? {
    guard engine.warnings.contains(where: { $0.to == nil && $0.kind == .waitingForGPS }) else { return nil }
    let cause: String? =
      switch gpsTrouble {
      case .disconnected(let reason): "no gpsd: \(reason)"
      case _ where !hasReceiver: "\(PositioningStatus.devices([]))"
      case let trouble?: "\(trouble)"
      case nil: inaccuracy(engine.parameters)
      }
    return DriveStatus.waitingForGPS + (cause.map { " (\($0))" } ?? "")
  }

  /// Why the last position opens no fence; `nil` without one, and when it is accurate.
  private func inaccuracy(_ parameters: Parameters) -> String? {
    guard let fix = status.fix, fix.coordinate != nil else { return nil }
    guard let accuracy = fix.accuracy, let metres = Int(exactly: accuracy.rounded(.up)) else {
      return "the receiver's positions have no accuracy"
    }
    return accuracy > parameters.accuracyLimit ? "the position is accurate to \(metres) m only" : nil
  }

  /// Why there is no test to ping on; `nil` when there is one, and where the link explains it.
  private func testCause(
    _ tests: ServerTests, _ isClockTrusted: Bool, on engine: Engine, isBlocked: Bool
  ) -> String? {
    guard engine.path != .wifi else { return nil }
    if let trouble = tests.trouble, !isBlocked || trouble.mayHaveNetwork { return trouble.reason }
    let isMissing = tests.session.inUse == nil && isClockTrusted && !isBlocked
    if isMissing, !tests.isRefused, let pause = engine.pause { return pause }
    return DriveStatus.warning(
      ofMissingTest: isMissing, isRefused: tests.isRefused, on: engine.path, hasTarget: status.target != nil)
  }
}

/// Counts, once a second, why a drive sends no pings. A pure value.
struct Silence: Hashable, Sendable {
  /// The kinds of reasons. A reason's text can change each second, with the time that is left until the next try.
  fileprivate enum Cause: Int {
    case wifi, clock, refusal, network, unsent, earlyEnd, test
  }

  private struct Span: Hashable {
    var seconds = 0
    var reason: String
  }

  private var spans: [Cause: Span] = [:]
  private var last: Cause?

  /// The conditions that can prevent pings at one moment.
  struct Situation: Sendable {
    var path: Path
    /// The link; `nil` before it is known.
    var network: PathReading?
    var isClockTrusted: Bool
    /// The ping server refused the token, and has answered no ping since.
    var isRefused: Bool
    /// The last trouble with a request for a test, or with pings on it.
    var trouble: String?
    /// Why this host could not send the last ping.
    var sendTrouble: String?
    /// Pings are being sent.
    var isPinging = false
    /// They go to the user's own target.
    var hasTarget = false

    var reason: String { cause.reason }

    fileprivate var cause: (Cause, reason: String) {
      if path == .wifi { return (.wifi, network?.remedy ?? "it was on Wi-Fi") }
      if !isClockTrusted {
        return (.clock, "the host's clock is not set, so no \(hasTarget ? "token was made" : "test was requested")")
      }
      if isRefused {
        return (.refusal, hasTarget ? DriveStatus.targetRefuses : "the ping server refused the token (RE01)")
      }
      if path == .offline { return (.network, "there was no network\(network.map { " (\($0))" } ?? "")") }
      if let sendTrouble { return (.unsent, sendTrouble) }
      if isPinging { return (.earlyEnd, "it ended before the first ping was answered or lost") }
      return (
        .test,
        trouble
          ?? (hasTarget ? "the target's address was not known yet" : "there was no test from the control server yet")
      )
    }
  }

  mutating func note(_ situation: Situation) {
    let (cause, reason) = situation.cause
    spans[cause, default: Span(reason: reason)].seconds += 1
    spans[cause]?.reason = reason
    last = cause
  }

  /// The reason that lasted longest, in its latest words; if several did, the latest one.
  var reason: String? {
    guard let most = spans.values.map(\.seconds).max() else { return nil }
    let longest = spans.filter { $0.value.seconds == most }
    if let last, let span = longest[last] { return span.reason }
    return longest.min { $0.key.rawValue < $1.key.rawValue }?.value.reason
  }
}
