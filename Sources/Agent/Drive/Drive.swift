import ControlServer
import Coverage
import DriveLog
import DriveStore
import Logging
import NetworkPath
import OrderedJSON
import Pinging
import Positioning
import Settings

/// One live drive on one link, from start to stop: takes everything that happens in one order, lets the engine decide, and keeps what it
/// decides on disk before the next thing is taken.
actor Drive {
  /// What a drive came to.
  struct Summary: Sendable {
    let drive: Int64
    let link: String?
    let fences: Int
    let submittableFences: Int
    let tally: PingTally
    let lasted: Duration
    let reason: StopReason
    /// `nil` without a capture.
    let capture: CaptureSummary?
    /// Why no ping was sent; `nil` when one was.
    let silence: String?
  }

  /// A drive writes to the disk before it handles its next input: not on a thread that tasks share.
  private let disk = DiskExecutor("drive")
  nonisolated var unownedExecutor: UnownedSerialExecutor { disk.asUnownedSerialExecutor() }

  let configuration: ProbeConfiguration
  let link: LinkSettings
  var clock: DriveClock
  let sources: DriveSources
  let logger: Logger
  private let onStatus: @Sendable (DriveStatus) -> Void
  var engine: Engine
  var journal: DriveJournal
  var pingSession: PingSession
  var pings: ServerPings
  /// The pings that are being sent.
  var target: PingTarget.ID?
  /// The test that each target's pings belong to, those that have stopped included until their last verdict.
  var generations: [PingTarget.ID: PingSession.Generation] = [:]
  /// When targets that have stopped gave way to another session; what they sent later counts for none.
  var cuts: [PingTarget.ID: DriveTime] = [:]
  /// A test on which no pings could begin so far.
  var unused: Grant?
  private var wayWatch = WayWatch()
  private var status = DriveStatus()
  private var total = PingTally()
  private var gpsTrouble: String?
  /// Why there is no test to ping on, for the status.
  var serverTrouble: String?
  var troubles = TestTroubles()
  /// Since the last test that pings began on.
  var lastTrouble: String?
  /// The last word of the ping server was that it refuses the token (RE01).
  private var isRefused = false
  private var silence = Silence()
  private var lastCheckpoint = DriveTime.start
  var loopUUID: String?
  var request: TestRequest?
  /// Oddities of the control server's answers that the log has already.
  var toldOddities: Set<String> = []

  init(
    configuration: ProbeConfiguration, link: LinkSettings, parameters: Parameters, clock: DriveClock,
    journal: DriveJournal, loopUUID: String? = nil, sources: DriveSources, capture: RunningCapture? = nil,
    logger: Logger, onStatus: @escaping @Sendable (DriveStatus) -> Void
  ) {
    self.configuration = configuration
    self.link = link
    self.loopUUID = loopUUID
    self.clock = clock
    self.journal = journal
    self.sources = sources
    self.logger = logger
    self.onStatus = onStatus
    engine = Engine(parameters: parameters, path: sources.initialPath)
    pingSession = PingSession(policy: configuration.recovery)
    pings = ServerPings(pinger: sources.pinger, capture: capture, logger: logger, lookUp: sources.lookUp)
    status.link = link.name
  }

  /// Runs until the engine stops: by a stop input, or by itself.
  func run() async -> Summary {
    journal.take([.sessionBegan(engine.sessions[0])], of: engine)
    logClock()
    await withTaskGroup { group in
      sources.start(in: &group)
      for await input in sources.inputs {
        take(input)
        if engine.stopped != nil { break }
      }
      group.cancelAll()
      request?.task.cancel()
      sources.stop()
    }
    return finish()
  }

  private func finish() -> Summary {
    let stopped = engine.stopped ?? (clock.now, .user)
    noteSilence()
    journal.checkpoint(engine, at: stopped.at)
    journal.end(at: stopped.at, reason: stopped.reason)
    return Summary(
      drive: journal.drive, link: link.name, fences: engine.fences.count,
      submittableFences: engine.fences.filter(\.isSubmittable).count, tally: total,
      lasted: stopped.at.sinceStart, reason: stopped.reason, capture: pings.close(),
      silence: total.pings == 0 ? silence.reason : nil)
  }

  /// Tries again to write what the disk refused, after the end.
  /// - Returns: How many fences are in memory only, and why something is; no reason when nothing is.
  func save() -> (unsaved: Int, trouble: String?) {
    guard !journal.isComplete, let stopped = engine.stopped else { return (0, nil) }
    journal.checkpoint(engine, at: stopped.at)
    journal.end(at: stopped.at, reason: stopped.reason)
    return (journal.unsavedFenceCount, journal.isComplete ? nil : journal.trouble ?? "")
  }

  // MARK: Inputs

  private func take(_ input: DriveInput) {
    // A fence that closes now, or a drive that stops, has the pings that were answered before.
    takePings()
    guard engine.stopped == nil else { return }
    switch input {
    case .positioning(let event): take(event)
    case .pingsDue: break
    case .path(let reading): take(reading)
    case .radio(let technology): record(.radio(technology))
    case .granted(let grant, let generation): granted(grant, generation)
    case .requestFailed(let trouble, let generation): requestFailed(trouble, generation)
    case .resolved(let address, let grant, let generation): resolved(address, grant, generation)
    case .unresolved(let reason, let generation): unusable(reason, generation)
    case .lookedUp(let host, let addresses): pings.take(addresses, for: host)
    case .tick: tick()
    case .stop: stop()
    }
    decide()
  }

  /// Writes an event to the log, hands it to the engine and keeps what comes of it.
  func record(_ kind: Event.Kind, at time: DriveTime? = nil, beside details: [JSON.Member] = []) {
    let arrived = time ?? clock.now
    letTimePass(to: arrived)
    guard engine.stopped == nil else { return }
    // What happens counts from the moment the engine takes it; only pings belong to the past.
    let event =
      kind.concernsPing ? Event(at: arrived, kind) : Event(at: max(arrived, engine.latestChange), kind)
    apply(event, beside: details)
  }

  /// A fix counts from the arrival of its position, also when pings that were sent behind that are counted already.
  private func record(_ positioned: PositionedFix) {
    let delivered = clock.time(of: positioned.delivered)
    letTimePass(to: delivered)
    guard engine.stopped == nil else { return }
    let arrived = max(.start, clock.time(of: positioned.arrival))
    let isLate = arrived < engine.latestChange
    let event = Event(at: arrived, .fix(positioned.fix), delivered: isLate ? max(arrived, delivered) : nil)
    apply(event, beside: positioned.details)
  }

  private func apply(_ event: Event, beside details: [JSON.Member]) {
    journal.log(event, beside: details)
    let effects = engine.handle(event)
    logStop(in: effects, by: event)
    journal.take(effects, of: engine)
  }

  private func letTimePass(to time: DriveTime) {
    let effects = engine.advance(to: time)
    guard !effects.isEmpty else { return }
    logStop(in: effects, by: nil)
    journal.take(effects, of: engine)
  }

  /// A stop of the engine's own accord is written down too, so that a replay with other settings ends there as well. Like
  /// all else, before the store has what came of it.
  private func logStop(in effects: [Effect], by event: Event?) {
    guard let stopped = engine.stopped, effects.contains(.stopped(stopped.reason)) else { return }
    if case .stop = event?.kind { return }
    journal.log(Event(at: stopped.at, .stop(stopped.reason)))
  }

  private func stop() {
    if let target { sources.pinger.stop(target) }
    record(.stop(.user))
  }

  // MARK: Positioning

  private func take(_ event: PositioningEvent) {
    switch event {
    case .fix(let positioned):
      status.fix = positioned.fix
      status.isAccurate = engine.parameters.accepts(positioned.fix)
      record(positioned)
    case .status(let change):
      switch change {
      case .disconnected: gpsTrouble = "no gpsd"
      case .noFix: gpsTrouble = gpsTrouble ?? "no position"
      case .connected, .positioned: gpsTrouble = nil
      case .connecting, .devices, .clockDifference, .complaint: break
      }
    case .counters(let counters): status.positioning = counters
    case .clock: break
    }
  }

  // MARK: Pings

  private func takePings() {
    while engine.stopped == nil {
      let events = sources.pinger.events.available()
      if events.isEmpty { return }
      for event in events where engine.stopped == nil { take(event) }
    }
  }

  private func take(_ event: PingEvent) {
    if event.target == target { pings.take(event) }
    let generation = generations[event.target]
    let at = clock.time(ofSlot: event.slot)
    switch event.kind {
    case .refused:
      if let generation {
        if generation == pingSession.inUse {
          logger.notice("the ping server refuses the token (RE01)")
          isRefused = true
        }
        pingSession.refused(generation)
      }
      return
    case .finished:
      sources.pinger.remove(event.target)
      generations[event.target] = nil
      cuts[event.target] = nil
    case .overflow(let count):
      logger.error("the host was too slow to take \(count) ping results; they belong to no fence")
    default: break
    }
    guard cuts[event.target].map({ at < $0 }) ?? true else { return }
    if case .late(let rtt) = event.kind { record(.late(rttNanoseconds: rtt), at: at) }
    if case .duplicate = event.kind { record(.duplicate, at: at) }
    guard let outcome = event.outcome else { return }
    if let generation {
      if outcome.isAnswered { pingSession.answered(generation) } else { pingSession.failed(generation) }
      // Another test was asked for in vain, but this one works again.
      if outcome.isAnswered, generation == pingSession.inUse { (serverTrouble, isRefused) = (nil, false) }
    }
    status.lastSecond.count(outcome)
    total.count(outcome)
    record(
      .ping(outcome), at: at,
      beside: JSON.members(["sequence": event.sequenceOnWire.map { .integer(Int64($0)) }]))
  }

  // MARK: Network

  private func take(_ reading: PathReading) {
    status.network = reading
    if wayWatch.hasChanged(reading) {
      logger.notice("the link of the pings has changed: \(reading); a test of before is not used any more")
      pingSession.linkChanged(at: clock.now)
    }
    if reading.path != engine.path { record(.path(reading.path)) }
  }

  // MARK: Time

  private func tick() {
    let now = clock.now
    letTimePass(to: now)
    guard engine.stopped == nil else { return }
    followClock()
    noteSilence()
    pings.tick(isPaused: target == nil)
    if now - lastCheckpoint >= .seconds(4) {
      lastCheckpoint = now
      journal.checkpoint(engine, at: now)
    }
    report(at: now)
  }

  private func noteSilence() {
    guard total.pings == 0 else { return }
    silence.note(
      Silence.Situation(
        path: engine.path, network: status.network, isClockTrusted: clock.isTrusted, isRefused: isRefused,
        trouble: lastTrouble, isPinging: target != nil))
  }

  /// In mid-drive another clock can come to rule, or the host's can be set: by a receiver, or by NTP once there is a network. Then all
  /// times so far were wrong.
  private func followClock() {
    let step = clock.adjust()
    if let step {
      logger.notice("the times of this drive were off: they move by \(step.inSeconds) s (\(clock.reading.ruling))")
      journal.setStart(clock.started)
      record(.clockSet(by: step))
    }
    logClock()
  }

  private func logClock() {
    guard let news = clock.news() else { return }
    journal.log(ClockNote(ruling: news.ruling, hostLead: news.hostLead, at: max(DriveTime.start, clock.now)))
  }

  private func report(at now: DriveTime) {
    status.elapsed = now.sinceStart
    status.fences = engine.fences.count
    status.technology = engine.technology
    status.testUUID = engine.sessions.last?.testUUID
    status.openFence = engine.openFence
    (status.diskTrouble, status.unsavedFences) = (
      journal.trouble, journal.trouble == nil ? 0 : journal.unsavedFenceCount
    )
    status.warnings = warnings
    onStatus(status)
    status.lastSecond = PingTally()
  }

  private var warnings: [String] {
    var warnings = engine.warnings.filter { $0.to == nil }.map { warning in
      switch warning.kind {
      case .waitingForGPS: gpsTrouble.map { "waiting for GPS (\($0))" } ?? "waiting for GPS"
      case .wifi: status.network?.obstacle ?? "on Wi-Fi, not measuring"
      }
    }
    if !clock.isTrusted { warnings.append("the clock is not set, not measuring") }
    if let warning = testWarning { warnings.append(warning) }
    if let trouble = journal.trouble { warnings.append(trouble) }
    if let warning = pings.warning { warnings.append(warning) }
    return warnings
  }

  private var testWarning: String? {
    if let serverTrouble { return serverTrouble }
    return DriveStatus.warning(
      ofMissingTest: pingSession.inUse == nil && clock.isTrusted, isRefused: isRefused, on: engine.path)
  }
}
