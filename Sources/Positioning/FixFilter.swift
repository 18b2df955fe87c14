import Coverage

/// From reports to fixes: chooses the receiver, refuses what cannot be, makes one fix of an epoch's reports, and says when the
/// position is lost. Reads no clock: time comes with each report and with ``advance(to:)`` (spec/gpsd.md 3 and 4).
public struct FixFilter: Sendable {
  /// What it goes by.
  public struct Rules: Hashable, Sendable {
    /// The only receiver to listen to; `nil`: the first with a fix, until it is stale.
    public var device: String?
    /// See ``GPSD/Configuration/staleAfter``.
    public var staleAfter: Duration
    /// See ``Timings/epochQuiet``.
    public var epochQuiet: Duration
    /// See ``Timings/longestEpoch``.
    public var longestEpoch: Duration
    /// See ``GPSD/Configuration/maximumSpeed``.
    public var maximumSpeed: Double?

    public init(configuration: GPSD.Configuration = GPSD.Configuration(), timings: Timings = Timings()) {
      device = configuration.device
      staleAfter = configuration.staleAfter
      epochQuiet = timings.epochQuiet
      longestEpoch = timings.longestEpoch
      maximumSpeed = configuration.maximumSpeed
    }
  }

  /// What was taken and refused so far.
  public internal(set) var counters = PositioningCounters()

  private let rules: Rules
  private var receivers = Receivers()
  private var clockWatch = ClockWatch()
  private var clocks = ReceiverClocks()
  private var jumpFilter: JumpFilter?
  private var epoch: Epoch?
  private var closed: (time: WallTime, began: ContinuousClock.Instant)?
  private var sky: (device: String?, hdop: Double, arrival: ContinuousClock.Instant)?
  /// The last usable report, or the start.
  private var lastUsable: ContinuousClock.Instant
  /// The receiver that the fixes come from; inside it `nil` is a receiver without a name.
  private var chosen: String??
  private var isLost = false
  /// Nothing usable came for long, and what comes now may have waited somewhere.
  private var isCatchingUp = false

  public init(rules: Rules, startingAt start: ContinuousClock.Instant) {
    self.rules = rules
    lastUsable = start
    jumpFilter = rules.maximumSpeed.map(JumpFilter.init)
  }

  /// When ``advance(to:)`` has something to do next, if nothing is reported before.
  public var nextDeadline: ContinuousClock.Instant? {
    [epochDeadline, lossDeadline].compactMap { $0 }.min()
  }

  /// What `report`, which came at `now`, leads to.
  public mutating func take(_ report: GPSDReport, at now: HostTime) -> [PositioningEvent] {
    let due = advance(to: now)
    switch report {
    case .tpv(let tpv): return due + take(tpv, at: now)
    case .sky(let device, let hdop):
      if let hdop, isEligible(device) { sky = (device, hdop, now.instant) }
      return due
    case .devices(let devices): return due + receivers.replace(with: devices)
    case .device(let device): return due + take(device, at: now)
    case .version, .watch, .complaint, .other: return due
    }
  }

  /// Hands out an epoch that is complete, and notices a loss.
  public mutating func advance(to now: HostTime) -> [PositioningEvent] {
    var events: [PositioningEvent] = []
    if let deadline = epochDeadline, deadline <= now.instant { events += closeEpoch(at: now) }
    if let deadline = lossDeadline, deadline <= now.instant { events += lose(at: now) }
    return events
  }

  // MARK: - Receivers

  private mutating func take(_ device: GPSDDevice, at now: HostTime) -> [PositioningEvent] {
    let change = receivers.update(device)
    guard !device.isActive, chosen == .some(device.path), !isLost else { return change }
    return change + closeEpoch(at: now) + lose(at: now)
  }

  /// Whether this receiver's reports count now.
  private func isEligible(_ device: String?) -> Bool {
    if let wanted = rules.device { return device == wanted }
    guard let chosen, !isLost else { return true }
    return device == chosen
  }

  /// Hands over to `device` if another was the source, and says so, also after a loss.
  private mutating func choose(_ device: String?, at now: HostTime) -> [PositioningEvent] {
    guard chosen != .some(device) || isLost else { return [] }
    let rest = closeEpoch(at: now)
    if chosen != .some(device) { closed = nil }
    chosen = .some(device)
    isLost = false
    return rest + [.status(.positioned(device: device))]
  }

  // MARK: - Epochs

  private mutating func take(_ tpv: TPV, at now: HostTime) -> [PositioningEvent] {
    let time = clocks.note(tpv, isChosen: chosen == .some(tpv.device), at: now.instant)
    return time + judge(tpv, at: now)
  }

  private mutating func judge(_ tpv: TPV, at now: HostTime) -> [PositioningEvent] {
    counters.tpv += 1
    guard isEligible(tpv.device) else {
      counters.otherDevice += 1
      return []
    }
    if let refusal = tpv.refusal {
      counters[keyPath: refusal] += 1
      return []
    }
    let change = choose(tpv.device, at: now)
    // One that jumps about has lost its position as one that is silent has.
    if jumpFilter?.isInDoubt != true || !change.isEmpty { lastUsable = now.instant }
    return change + add(tpv, at: now)
  }

  private mutating func add(_ tpv: TPV, at now: HostTime) -> [PositioningEvent] {
    if isStraggler(tpv, at: now) {
      counters.stragglers += 1
      return []
    }
    if epoch?.takes(tpv) == true {
      epoch?.merge(tpv, at: now)
      counters.merged += 1
      return []
    }
    if isOvertaken(by: tpv, at: now) {
      counters.overtaken += 1
      epoch = nil
    }
    let complete = closeEpoch(at: now)
    epoch = Epoch(tpv, at: now)
    return complete
  }

  /// When this host was suspended, or too busy to read, what waited meanwhile comes at once: only the end of it is of now. The
  /// receiver's time then runs fifty times as fast as the host's, or faster; its date does not matter.
  private func isOvertaken(by tpv: TPV, at now: HostTime) -> Bool {
    guard let epoch, let time = epoch.report.time, let next = tpv.time, next > time else { return false }
    guard isCatchingUp || isAtItsPace(until: next, now.instant) else { return false }
    return .microseconds(next.microseconds - time.microseconds) > (now.instant - epoch.latest) * 50
  }

  /// Whether the receiver's time has run with the host's since the last epoch, but for some jitter. In a recording that is played fast, it has not.
  private func isAtItsPace(until time: WallTime, _ now: ContinuousClock.Instant) -> Bool {
    guard let closed else { return false }
    return .microseconds(time.microseconds - closed.time.microseconds) < (now - closed.began) * 1.25
  }

  /// Interleaved sentences step back to the epoch before. A receiver whose time stands still is no straggler for long.
  private func isStraggler(_ tpv: TPV, at now: HostTime) -> Bool {
    guard let closed, tpv.time == closed.time else { return false }
    return now.instant < closed.began + rules.longestEpoch
  }

  private var epochDeadline: ContinuousClock.Instant? {
    epoch.map { min($0.latest + rules.epochQuiet, $0.began + rules.longestEpoch) }
  }

  private mutating func closeEpoch(at now: HostTime) -> [PositioningEvent] {
    guard let epoch else { return [] }
    self.epoch = nil
    isCatchingUp = false
    closed = epoch.report.time.map { ($0, epoch.began) }
    let difference = epoch.clockDifference
    let fix = positionedFix(of: epoch, clockDifference: difference, at: now)
    guard isWithinReach(fix) else {
      counters.jumps += 1
      return []
    }
    lastUsable = max(lastUsable, epoch.latest)
    counters.fixes += 1
    if ClockWatch.isOff(difference) { counters.wrongTimes += 1 }
    return clockWatch.note(difference) + [.fix(fix)]
  }

  private mutating func isWithinReach(_ positioned: PositionedFix) -> Bool {
    guard jumpFilter != nil, let place = positioned.fix.coordinate else { return true }
    return jumpFilter?.accepts(place, accuracy: positioned.fix.accuracy ?? 0, at: positioned.arrival) ?? true
  }

  private func positionedFix(of epoch: Epoch, clockDifference: Duration?, at now: HostTime) -> PositionedFix {
    let report = epoch.report
    let hdop = currentHDOP(of: report.device, at: now)
    let accuracy = HorizontalAccuracy(eph: report.eph, epx: report.epx, epy: report.epy, hdop: hdop)
    return PositionedFix(
      fix: report.fix(accuracy: accuracy), arrival: epoch.positionArrival, delivered: now.instant,
      accuracySource: accuracy.source, device: report.device, report: report, hdop: hdop,
      clockDifference: clockDifference)
  }

  /// Sky views come less often than positions; one that would be stale twice over says nothing any more.
  private func currentHDOP(of device: String?, at now: HostTime) -> Double? {
    guard let sky, sky.device == device, now.instant < sky.arrival + staleAfter * 2 else { return nil }
    return sky.hdop
  }

  // MARK: - Loss

  /// At least two cycles of the receiver.
  private var staleAfter: Duration {
    max(rules.staleAfter, receivers.cycle(of: rules.device ?? chosen.flatMap { $0 }) * 2)
  }

  private var lossDeadline: ContinuousClock.Instant? {
    isLost ? nil : lastUsable + staleAfter
  }

  private mutating func lose(at now: HostTime) -> [PositioningEvent] {
    isLost = true
    isCatchingUp = true
    guard chosen != nil else { return [.status(.noFix)] }
    counters.losses += 1
    return [.fix(PositionedFix(fix: .lost, arrival: now.instant)), .status(.noFix)]
  }
}
