import ControlServer
import Coverage
import Logging
import OrderedJSON
import Pinging
import Positioning

/// One live drive, from start to stop: takes everything that happens in one order, lets the engine decide, and keeps what it
/// decides on disk before the next thing is taken.
actor Drive {
  /// What a drive came to.
  struct Summary: Sendable {
    let drive: Int64
    let fences: Int
    let submittableFences: Int
    let tally: PingTally
    let lasted: Duration
    let reason: StopReason
    /// Why something could not be kept on disk; `nil` when all is there.
    let trouble: String?
    let unsavedFences: Int
    /// `nil` without a capture.
    let capture: CaptureSummary?
  }

  private let configuration: ProbeConfiguration
  private let clock: DriveClock
  private let sources: DriveSources
  private let logger: Logger
  private let onStatus: @Sendable (DriveStatus) -> Void
  private var engine: Engine
  private var journal: DriveJournal
  private var pingSession: PingSession
  private var pings: ServerPings
  private var target: PingTarget.ID?
  private var status = DriveStatus()
  private var total = PingTally()
  private var gpsTrouble: String?
  private var serverTrouble: String?
  private var lastCheckpoint = DriveTime.start
  private var loopUUID: String?

  init(
    configuration: ProbeConfiguration, parameters: Parameters, path: Path, clock: DriveClock, journal: DriveJournal,
    sources: DriveSources, capture: RunningCapture? = nil, logger: Logger,
    onStatus: @escaping @Sendable (DriveStatus) -> Void
  ) {
    self.configuration = configuration
    self.clock = clock
    self.journal = journal
    self.sources = sources
    self.logger = logger
    self.onStatus = onStatus
    engine = Engine(parameters: parameters, path: path)
    var policy = PingSession.Policy()
    policy.retryDelay = configuration.recovery.retryDelay
    pingSession = PingSession(policy: policy)
    pings = ServerPings(pinger: sources.pinger, capture: capture, logger: logger, lookUp: sources.lookUp)
  }

  /// Runs until the engine stops: by a stop input, or by itself.
  func run() async -> Summary {
    journal.take([.sessionBegan(engine.sessions[0])], at: .start)
    await withTaskGroup { group in
      sources.start(in: &group)
      for await input in sources.inputs {
        take(input)
        if engine.stopped != nil { break }
      }
      group.cancelAll()
      sources.stop()
    }
    return finish()
  }

  private func finish() -> Summary {
    let stopped = engine.stopped ?? (clock.now, .user)
    journal.checkpoint(engine.openFence, at: stopped.at)
    journal.end(at: stopped.at, reason: stopped.reason)
    return Summary(
      drive: journal.drive, fences: engine.fences.count,
      submittableFences: engine.fences.filter(\.isSubmittable).count, tally: total,
      lasted: stopped.at.sinceStart, reason: stopped.reason, trouble: journal.trouble,
      unsavedFences: journal.unsavedFenceCount, capture: pings.close())
  }

  // MARK: Inputs

  private func take(_ input: DriveInput) {
    switch input {
    case .positioning(let event): take(event)
    case .ping(let event): take(event)
    case .path(let path): take(path)
    case .radio(let technology): record(.radio(technology))
    case .granted(let grant, let requested, let address): take(grant, requested: requested, address: address)
    case .requestFailed(let reason): fail(reason)
    case .resolved(let host, let addresses): pings.take(addresses, for: host)
    case .tick: tick()
    case .stop: stop()
    }
  }

  /// Writes an event to the log, hands it to the engine and keeps what comes of it.
  private func record(_ kind: Event.Kind, at time: DriveTime? = nil, beside details: [JSON.Member] = []) {
    let arrived = time ?? clock.now
    letTimePass(to: arrived)
    guard engine.stopped == nil else { return }
    // What happens counts from the moment the engine takes it; only pings belong to the past.
    let event =
      if case .ping = kind { Event(at: arrived, kind) } else { Event(at: max(arrived, engine.latestChange), kind) }
    journal.log(event, beside: details)
    let effects = engine.handle(event)
    journal.take(effects, at: engine.now)
    logStop(in: effects, by: event)
  }

  private func letTimePass(to time: DriveTime) {
    let effects = engine.advance(to: time)
    guard !effects.isEmpty else { return }
    journal.take(effects, at: engine.now)
    logStop(in: effects, by: nil)
  }

  /// A stop of the engine's own accord is written down too, so that a replay with other settings ends there as well.
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
      let source = positioned.fix.accuracy.map { _ in JSON.string(positioned.accuracySource.rawValue) }
      record(
        .fix(positioned.fix), at: clock.time(of: positioned.delivered),
        beside: JSON.members(["accuracy_source": source]))
    case .status(let change):
      switch change {
      case .disconnected: gpsTrouble = "no gpsd"
      case .noFix: gpsTrouble = "no position"
      case .positioned: gpsTrouble = nil
      case .connected, .connecting, .devices, .clockDifference, .complaint: break
      }
    case .counters: break
    }
  }

  // MARK: Pings

  private func take(_ event: PingEvent) {
    if event.target == target { pings.take(event) }
    if case .refused = event.kind, event.target == target {
      logger.notice("the ping server refuses the token (RE01); asking for a new test")
      pingSession.refused(at: clock.now)
      sources.pinger.stop(event.target)
      target = nil
      requestIfWanted()
      return
    }
    if case .finished = event.kind, event.target != target { sources.pinger.remove(event.target) }
    if case .overflow(let count) = event.kind {
      logger.error("the host was too slow to take \(count) ping results; they belong to no fence")
    }
    guard let outcome = event.outcome else { return }
    if outcome.isAnswered, event.target == target { pingSession.answered() }
    status.lastSecond.count(outcome)
    total.count(outcome)
    record(
      .ping(outcome), at: clock.time(ofSlot: event.slot),
      beside: JSON.members(["sequence": event.sequenceOnWire.map { .integer(Int64($0)) }]))
  }

  // MARK: Network

  private func take(_ path: Path) {
    record(.path(path))
    guard let target else { return }
    if path == .wifi { sources.pinger.pause(target) } else { sources.pinger.resume(target) }
  }

  // MARK: Tests of the control server

  private func requestIfWanted() {
    let now = clock.now
    guard engine.stopped == nil, pingSession.wantsRequest(at: now, path: engine.path) else { return }
    sources.requestTest(at: clock.wholeMillisecond(now), started: clock.started, loopUUID: loopUUID)
  }

  private func take(_ grant: CoverageGrant, requested: DriveTime, address: PingAddress) {
    if let target { sources.pinger.stop(target) }
    target = nil
    loopUUID = grant.loopUUID ?? loopUUID
    if let loop = grant.loopUUID {
      let isFirst = engine.sessions.count == 1 && engine.sessions[0].testUUID == nil
      journal.setLoop(loop, ofSession: isFirst ? 0 : engine.sessions.count)
    }
    record(
      .session(
        SessionGrant(testUUID: grant.testUUID, anchor: requested, maximumDuration: grant.maximumDrive)))
    guard engine.stopped == nil else { return }
    pingSession.granted(limit: grant.maximumSession, at: clock.now)
    serverTrouble = nil
    logger.info("test \(grant.testUUID): pinging \(address)")
    startPings(to: address, host: grant.pingHost, token: grant.pingToken)
  }

  private func startPings(to address: PingAddress, host: String, token: [UInt8]) {
    var wanted = PingTarget(
      address: address, echo: .rtr(token: token), interface: configuration.pings.interface,
      interval: configuration.pings.interval, timeout: configuration.pings.timeout)
    wanted.awaitsInterface = true
    do {
      let id = try pings.begin(wanted, host: host)
      target = id
      if engine.path == .wifi { sources.pinger.pause(id) }
    } catch {
      fail("cannot ping \(address): \(error)")
    }
  }

  private func fail(_ reason: String) {
    if serverTrouble != reason { logger.warning("\(reason); the drive goes on, trying again") }
    serverTrouble = reason
    pingSession.failed(at: clock.now)
  }

  // MARK: Time

  private func tick() {
    let now = clock.now
    letTimePass(to: now)
    guard engine.stopped == nil else { return }
    requestIfWanted()
    pings.tick(isPaused: target == nil || engine.path == .wifi)
    if now - lastCheckpoint >= .seconds(4) {
      lastCheckpoint = now
      journal.checkpoint(engine.openFence, at: now)
    }
    report(at: now)
  }

  private func report(at now: DriveTime) {
    status.elapsed = now.sinceStart
    status.fences = engine.fences.count
    status.technology = engine.technology
    status.testUUID = engine.sessions.last?.testUUID
    status.warnings = warnings
    onStatus(status)
    status.lastSecond = PingTally()
  }

  private var warnings: [String] {
    var warnings = engine.warnings.filter { $0.to == nil }.map { warning in
      switch warning.kind {
      case .waitingForGPS: gpsTrouble.map { "waiting for GPS (\($0))" } ?? "waiting for GPS"
      case .wifi: "on Wi-Fi, not measuring"
      }
    }
    if serverTrouble != nil { warnings.append("no test from the control server") }
    if let trouble = journal.trouble { warnings.append(trouble) }
    if let warning = pings.warning { warnings.append(warning) }
    return warnings
  }
}
