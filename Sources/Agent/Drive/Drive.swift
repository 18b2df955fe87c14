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
  }

  private let configuration: ProbeConfiguration
  private let clock: DriveClock
  private let sources: DriveSources
  private let logger: Logger
  private let onStatus: @Sendable (DriveStatus) -> Void
  private var engine: Engine
  private var journal: DriveJournal
  private var pingSession: PingSession
  private var target: PingTarget.ID?
  /// A test whose ping server could not be pinged from here so far.
  private var unused: Grant?
  private var status = DriveStatus()
  private var total = PingTally()
  private var gpsTrouble: String?
  private var serverTrouble: String?
  private var lastCheckpoint = DriveTime.start
  private var loopUUID: String?

  init(
    configuration: ProbeConfiguration, parameters: Parameters, path: Path, clock: DriveClock, journal: DriveJournal,
    sources: DriveSources, logger: Logger, onStatus: @escaping @Sendable (DriveStatus) -> Void
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
      lasted: stopped.at.sinceStart, reason: stopped.reason)
  }

  /// Tries again to write what the disk refused, after the end.
  /// - Returns: How many fences are in memory only, and why.
  func save() -> (unsaved: Int, trouble: String) {
    guard journal.unsavedFenceCount > 0, let stopped = engine.stopped else { return (0, "") }
    journal.checkpoint(nil, at: stopped.at)
    if journal.unsavedFenceCount == 0 { journal.end(at: stopped.at, reason: stopped.reason) }
    return (journal.unsavedFenceCount, journal.trouble ?? "")
  }

  // MARK: Inputs

  private func take(_ input: DriveInput) {
    switch input {
    case .positioning(let event): take(event)
    case .ping(let event): take(event)
    case .path(let path): take(path)
    case .radio(let technology): record(.radio(technology))
    case .granted(let grant, let address): take(grant, address)
    case .requestFailed(let reason, let unused): fail(reason, unused: unused)
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
      case .noFix: gpsTrouble = gpsTrouble ?? "no position"
      case .connected, .positioned: gpsTrouble = nil
      case .connecting, .devices, .clockDifference, .complaint: break
      }
    case .counters: break
    }
  }

  // MARK: Pings

  private func take(_ event: PingEvent) {
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
    record(.ping(outcome), at: clock.time(ofSlot: event.slot))
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
    if let unused, now - unused.requested > .seconds(3600) { self.unused = nil }
    sources.requestTest(
      at: clock.wholeMillisecond(now), started: clock.started, loopUUID: loopUUID, unused: unused)
  }

  private func take(_ grant: Grant, _ address: PingAddress) {
    let pings: PingTarget.ID
    do {
      pings = try startPings(to: address, token: grant.coverage.pingToken)
    } catch {
      fail("cannot ping \(address): \(error)", unused: grant)
      return
    }
    if let target { sources.pinger.stop(target) }
    target = pings
    unused = nil
    serverTrouble = nil
    loopUUID = grant.coverage.loopUUID ?? loopUUID
    if let loop = grant.coverage.loopUUID {
      let isFirst = engine.sessions.count == 1 && engine.sessions[0].testUUID == nil
      journal.setLoop(loop, ofSession: isFirst ? 0 : engine.sessions.count)
    }
    record(
      .session(
        SessionGrant(
          testUUID: grant.coverage.testUUID, anchor: grant.requested, maximumDuration: grant.coverage.maximumDrive)))
    pingSession.granted(limit: grant.coverage.maximumSession, at: clock.now)
    logger.info("test \(grant.coverage.testUUID): pinging \(address)")
  }

  private func startPings(to address: PingAddress, token: [UInt8]) throws(PingerError) -> PingTarget.ID {
    var pings = PingTarget(
      address: address, echo: .rtr(token: token), interface: configuration.pings.interface,
      interval: configuration.pings.interval, timeout: configuration.pings.timeout)
    pings.awaitsInterface = true
    let id = try sources.pinger.start(pings)
    if engine.path == .wifi { sources.pinger.pause(id) }
    return id
  }

  private func fail(_ reason: String, unused: Grant?) {
    self.unused = unused
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
    return warnings
  }
}
