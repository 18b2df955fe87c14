import Coverage

/// Turns reports into fixes: chooses the receiver, refuses impossible and old positions, merges an epoch's reports into one fix, and reports
/// the loss of the position. It reads no clock: time comes with each report and with ``advance(to:)``
/// (docs/protocol.md, 4.3 and 4.4).
struct FixFilter: Sendable {
  var counters = PositioningCounters()

  private let configuration: GPSDConfiguration
  private let timings: Timings
  private var receivers = Receivers()
  private var choice = ReceiverChoice()
  private var clockWatch = ClockDifferenceWatch()
  private var clocks = ReceiverClocks()
  private var jumpFilter: JumpFilter?
  private var epoch: Epoch?
  private var closed = ClosedEpochs()
  /// The time of the last usable report, or of the start.
  private var lastUsable: ContinuousClock.Instant
  /// The receiver from which fixes come. Outer `nil`: none yet; inner `nil`: a receiver without a path.
  private var chosen: String??
  /// The accuracy of its last fix.
  private var chosenAccuracy: Double?
  /// When the position of the last fix came, from any receiver.
  private var lastArrival: ContinuousClock.Instant?
  private var isLost = false
  private var lastSatellites: Satellites?
  /// After a loss, the next reports may have been buffered.
  private var isCatchingUp = false

  init(
    configuration: GPSDConfiguration = GPSDConfiguration(), timings: Timings = Timings(),
    startingAt start: ContinuousClock.Instant
  ) {
    (self.configuration, self.timings, lastUsable) = (configuration, timings, start)
    jumpFilter = configuration.maximumSpeed.map(JumpFilter.init)
  }

  /// The next time at which ``advance(to:)`` changes something, unless a report comes before.
  var nextDeadline: ContinuousClock.Instant? {
    [epochDeadline, lossDeadline].compactMap { $0 }.min()
  }

  mutating func apply(_ report: GPSDReport, at now: HostTime) -> [PositioningEvent] {
    let due = advance(to: now)
    switch report {
    case .tpv(let tpv): return due + clocks.note(tpv, at: now.instant) + apply(tpv, at: now)
    case .sky(let device, let dilution, let satellites):
      receivers.update(device) { $0.errors.note(dilution, at: now.instant) }
      return due + note(satellites, of: device)
    case .gst(let gst):
      receivers.update(gst.device) { $0.errors.note(gst, at: now.instant) }
      return due
    case .devices(let devices): return due + receivers.replace(with: devices)
    case .device(let device): return due + apply(device, at: now)
    case .version, .watch, .complaint, .other: return due
    }
  }

  /// Delivers the fix of a complete epoch, and reports a loss.
  mutating func advance(to now: HostTime) -> [PositioningEvent] {
    guard let deadline = nextDeadline, deadline <= now.instant else { return [] }
    // The open epoch's position may be back in reach; else it comes before the loss.
    let complete = closeEpoch(at: now)
    guard let lossDeadline, lossDeadline <= now.instant else { return complete }
    return complete + lose(at: now)
  }

  private mutating func note(_ satellites: Satellites?, of device: String?) -> [PositioningEvent] {
    guard let satellites, satellites != lastSatellites, chosen == nil || chosen == .some(device) else { return [] }
    lastSatellites = satellites
    return [.satellites(satellites)]
  }

  // MARK: - Receivers

  private mutating func apply(_ device: GPSDDevice, at now: HostTime) -> [PositioningEvent] {
    let change = receivers.update(device)
    guard !device.isActive, chosen == .some(device.path), !isLost else { return change }
    return change + closeEpoch(at: now) + lose(at: now)
  }

  /// Whether the reports of this receiver are used now.
  private func isEligible(_ device: String?) -> Bool {
    if let wanted = configuration.device { return device == wanted }
    guard let chosen, !isLost else { return true }
    return device == chosen
  }

  /// Whether another receiver than the chosen one is used from now on.
  private mutating func takesOver(_ tpv: TPV, at now: HostTime) -> Bool {
    guard configuration.device == nil, tpv.refusal == nil, isOfNow(tpv, at: now) else { return false }
    let figures = receivers.errorFigures(of: tpv, at: now.instant)
    return choice.takesOver(
      tpv.device, theirs: HorizontalAccuracy(figures).metres, mine: chosenAccuracy, at: now.instant)
  }

  /// Whether the position is current by the receiver's time, not buffered or repeated.
  private mutating func isOfNow(_ tpv: TPV, at now: HostTime) -> Bool {
    guard let time = tpv.time else { return true }
    return receivers.update(tpv.device) { $0.pace.check(time, at: now) } == .current
  }

  /// Makes `device` the source of fixes, and reports a change of the source or the end of a loss.
  private mutating func choose(_ device: String?, at now: HostTime) -> [PositioningEvent] {
    guard chosen != .some(device) || isLost else { return [] }
    let rest = closeEpoch(at: now)
    if chosen != .some(device) { (closed, chosenAccuracy) = (ClosedEpochs(), nil) }
    chosen = .some(device)
    isLost = false
    return rest + [.status(.positioned(device: device))]
  }

  // MARK: - Epochs

  private mutating func apply(_ tpv: TPV, at now: HostTime) -> [PositioningEvent] {
    counters[.tpv] += 1
    guard isEligible(tpv.device) || takesOver(tpv, at: now) else {
      counters[.otherDevice] += 1
      return []
    }
    if let refusal = tpv.refusal {
      counters[refusal] += 1
      return []
    }
    var tpv = tpv
    if chosen == .some(tpv.device) {
      if let refusal = closed.refusal(of: tpv, at: now.instant, longestEpoch: timings.longestEpoch) {
        counters[refusal] += 1
        return []
      }
      // Ignore a time that stands still while the position moves.
      if closed.standsStill(tpv) { tpv.time = nil }
    }
    if epoch?.includes(tpv, at: now.instant) == true, chosen == .some(tpv.device) {
      noteUsable(at: now)
      epoch?.merge(tpv, at: now)
      counters[.merged] += 1
      return []
    }
    guard isOfNow(tpv, at: now) else {
      counters[.behind] += 1
      return []
    }
    let change = choose(tpv.device, at: now)
    if change.isEmpty { noteUsable(at: now) } else { lastUsable = now.instant }
    return change + begin(tpv, at: now)
  }

  /// Jumping positions do not postpone the loss.
  private mutating func noteUsable(at now: HostTime) {
    if jumpFilter?.isInDoubt != true { lastUsable = now.instant }
  }

  private mutating func begin(_ tpv: TPV, at now: HostTime) -> [PositioningEvent] {
    if isOvertaken(by: tpv, at: now) {
      counters[.overtaken] += 1
      epoch = nil
    }
    let complete = closeEpoch(at: now)
    epoch = Epoch(tpv, at: now)
    return complete
  }

  /// Whether the open epoch is old. After this host was suspended, or too busy to read, buffered reports come at once, and only the last of
  /// them are current. The receiver's time then runs at least fifty times as fast as the host's; its date does not matter. Two positions
  /// from one read have the same host time, and the fence between them would have no duration: the second one is used.
  private func isOvertaken(by tpv: TPV, at now: HostTime) -> Bool {
    guard let epoch, let time = epoch.report.time, let next = tpv.time, next > time else { return false }
    let step = Duration.microseconds(next.microseconds) - .microseconds(time.microseconds)
    guard step < .seconds(43_200) else { return false }
    if epoch.began == now.instant { return true }
    guard isCatchingUp || closed.isAtItsPace(until: next, now.instant) else { return false }
    return step > (now.instant - epoch.latest) * 50
  }

  private var epochDeadline: ContinuousClock.Instant? {
    epoch.map { min($0.latest + timings.epochQuiet, $0.began + timings.longestEpoch) }
  }

  private mutating func closeEpoch(at now: HostTime) -> [PositioningEvent] {
    guard let epoch else { return [] }
    self.epoch = nil
    isCatchingUp = false
    closed.note(epoch)
    // Two receivers' positions can come in one read; a fence between them would have no duration.
    guard lastArrival.map({ $0 < epoch.positionArrival }) ?? true else {
      counters[.overtaken] += 1
      return []
    }
    let fix = positionedFix(of: epoch, at: now)
    guard isWithinReach(fix) else {
      counters[.jumps] += 1
      return []
    }
    chosenAccuracy = fix.fix.accuracy
    lastUsable = max(lastUsable, epoch.latest)
    lastArrival = fix.arrival
    counters[.fixes] += 1
    if fix.refusedSpeed != nil { counters[.impossibleSpeeds] += 1 }
    if ClockDifferenceWatch.isOff(fix.clockDifference) { counters[.wrongTimes] += 1 }
    return clockWatch.note(fix.clockDifference) + [.fix(fix)]
  }

  private mutating func isWithinReach(_ positioned: PositionedFix) -> Bool {
    guard jumpFilter != nil, let place = positioned.fix.coordinate else { return true }
    return jumpFilter?.accepts(
      place, accuracy: positioned.fix.accuracy ?? 0, at: positioned.arrival, time: positioned.report?.time) ?? true
  }

  private func positionedFix(of epoch: Epoch, at now: HostTime) -> PositionedFix {
    let report = epoch.report
    let figures = receivers.errorFigures(of: report, at: epoch.latest)
    let accuracy = HorizontalAccuracy(figures)
    let isPossible = report.speed.flatMap { speed in configuration.speedLimit.map { speed <= $0 } } ?? true
    return PositionedFix(
      fix: report.fix(accuracy: accuracy, speed: isPossible ? report.speed : nil), arrival: epoch.positionArrival,
      delivered: now.instant, accuracyRule: accuracy.rule, device: report.device, driver: figures.driver,
      report: report, dilution: figures.dilutions.first, gst: figures.gst,
      refusedSpeed: isPossible ? nil : report.speed, clockDifference: epoch.clockDifference)
  }

  // MARK: - Loss

  /// The time without a usable report until the position is lost: at least two cycles of the receiver.
  private var staleAfter: Duration {
    max(configuration.staleAfter, receivers.cycle(of: configuration.device ?? chosen.flatMap { $0 }) * 2)
  }

  private var lossDeadline: ContinuousClock.Instant? {
    isLost ? nil : lastUsable + staleAfter
  }

  private mutating func lose(at now: HostTime) -> [PositioningEvent] {
    isLost = true
    isCatchingUp = true
    guard chosen != nil else { return [.status(.noFix)] }
    counters[.losses] += 1
    return [.fix(PositionedFix(fix: .lost, arrival: now.instant)), .status(.noFix)]
  }
}
