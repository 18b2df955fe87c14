import Coverage

/// Turns reports into fixes: chooses the receiver, refuses impossible and old positions, merges an epoch's reports into one fix, and reports
/// the loss of the position. It reads no clock: time comes with each report and with ``advance(to:)``
/// (docs/protocol.md, 4.3 and 4.4).
struct FixFilter: Sendable {
  var counters = PositioningCounters()

  private let configuration: GPSDConfiguration
  private var receivers = Receivers()
  private var chosen: ChosenReceiver?
  private var choice = ReceiverChoice()
  private var clocks = ReceiverClocks()
  private var jumpFilter: JumpFilter?
  /// The time of the last usable report, or of the start; `nil` while the position is lost. No epoch is open then.
  private var lastUsable: ContinuousClock.Instant?
  /// When the position of the last fix came, from any receiver.
  private var lastArrival: ContinuousClock.Instant?
  private var lastSatellites: Satellites?

  init(configuration: GPSDConfiguration = GPSDConfiguration(), startingAt start: ContinuousClock.Instant) {
    (self.configuration, lastUsable) = (configuration, start)
    jumpFilter = configuration.maximumSpeed.map(JumpFilter.init)
  }

  /// The next time at which ``advance(to:)`` changes something, unless a report comes before.
  var nextDeadline: ContinuousClock.Instant? {
    [chosen?.epoch?.deadline, lossDeadline].compactMap { $0 }.min()
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
    guard let satellites, satellites != lastSatellites, chosen.map({ $0.device == device }) ?? true else { return [] }
    lastSatellites = satellites
    return [.satellites(satellites)]
  }

  // MARK: - Receivers

  private mutating func apply(_ device: GPSDDevice, at now: HostTime) -> [PositioningEvent] {
    let change = receivers.update(device)
    guard !device.isActive, chosen?.device == device.path, lastUsable != nil else { return change }
    return change + closeEpoch(at: now) + lose(at: now)
  }

  /// Whether the reports of this receiver are used now.
  private func isEligible(_ device: String?) -> Bool {
    if let wanted = configuration.device { return device == wanted }
    guard let chosen, lastUsable != nil else { return true }
    return device == chosen.device
  }

  /// Whether another receiver than the chosen one is used from now on.
  private mutating func takesOver(_ tpv: TPV, at now: HostTime) -> Bool {
    guard configuration.device == nil, tpv.refusal == nil, isOfNow(tpv, at: now) else { return false }
    let figures = receivers.errorFigures(of: tpv, at: now.instant)
    return choice.takesOver(
      tpv.device, theirs: HorizontalAccuracy(figures).metres, mine: chosen?.accuracy, at: now.instant)
  }

  /// Whether the position is current by the receiver's time, not buffered or repeated.
  private mutating func isOfNow(_ tpv: TPV, at now: HostTime) -> Bool {
    guard let time = tpv.time else { return true }
    return receivers.update(tpv.device) { $0.pace.check(time, at: now) } == .current
  }

  /// Makes `device` the source of fixes, and reports a change of the source or the end of a loss.
  private mutating func choose(_ device: String?, at now: HostTime) -> [PositioningEvent] {
    let isChosen = chosen.map { $0.device == device } ?? false
    if isChosen, lastUsable != nil { return [] }
    let rest = closeEpoch(at: now)
    if !isChosen { chosen = ChosenReceiver(device: device) }
    chosen?.isCatchingUp = lastUsable == nil
    lastUsable = now.instant
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
    if let chosen, chosen.device == tpv.device {
      if let refusal = chosen.refusal(of: tpv, at: now.instant) {
        counters[refusal] += 1
        return []
      }
      // Ignore a time that stands still while the position moves.
      if chosen.standsStill(tpv) { tpv.time = nil }
      if chosen.epoch?.includes(tpv, at: now.instant) == true {
        noteUsable(at: now)
        self.chosen?.epoch?.merge(tpv, at: now)
        counters[.merged] += 1
        return []
      }
    }
    guard isOfNow(tpv, at: now) else {
      counters[.behind] += 1
      return []
    }
    let change = choose(tpv.device, at: now)
    noteUsable(at: now)
    return change + begin(tpv, at: now)
  }

  /// Jumping positions do not postpone the loss.
  private mutating func noteUsable(at now: HostTime) {
    if jumpFilter?.isInDoubt != true { lastUsable = now.instant }
  }

  private mutating func begin(_ tpv: TPV, at now: HostTime) -> [PositioningEvent] {
    if chosen?.isOvertaken(by: tpv, at: now.instant) == true {
      counters[.overtaken] += 1
      chosen?.epoch = nil
    }
    let complete = closeEpoch(at: now)
    chosen?.epoch = Epoch(tpv, at: now)
    return complete
  }

  private mutating func closeEpoch(at now: HostTime) -> [PositioningEvent] {
    guard let epoch = chosen?.closeEpoch() else { return [] }
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
    chosen?.accuracy = fix.fix.accuracy
    lastUsable = lastUsable.map { max($0, epoch.latest) }
    lastArrival = fix.arrival
    counters[.fixes] += 1
    if fix.refusedSpeed != nil { counters[.impossibleSpeeds] += 1 }
    if ReceiverClocks.isOff(fix.clockDifference) { counters[.wrongTimes] += 1 }
    return clocks.note(fix.clockDifference) + [.fix(fix)]
  }

  private mutating func isWithinReach(_ positioned: PositionedFix) -> Bool {
    guard let place = positioned.fix.coordinate else { return true }
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
      model: receivers.model(of: report.device), report: report, dilution: figures.dilutions.first, gst: figures.gst,
      refusedSpeed: isPossible ? nil : report.speed, clockDifference: epoch.clockDifference)
  }

  // MARK: - Loss

  /// The time without a usable report until the position is lost: at least two cycles of the receiver.
  private var staleAfter: Duration {
    max(configuration.staleAfter, receivers.cycle(of: configuration.device ?? chosen?.device) * 2)
  }

  private var lossDeadline: ContinuousClock.Instant? { lastUsable.map { $0 + staleAfter } }

  private mutating func lose(at now: HostTime) -> [PositioningEvent] {
    lastUsable = nil
    guard chosen != nil else { return [.status(.noFix)] }
    counters[.losses] += 1
    return [.fix(PositionedFix(fix: .lost, arrival: now.instant)), .status(.noFix)]
  }
}
