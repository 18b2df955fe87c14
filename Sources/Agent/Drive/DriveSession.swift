import ControlServer
import Coverage
import Logging
import Pinging

/// The tests of the control server that a drive goes through, and their pings.
extension Drive {
  /// Requests stay small, and a server's trouble with one costs no more than this (spec 9).
  private static let fencesPerSession = 400

  /// Does what the ping session wants now.
  func decide() {
    // A test that is asked for with a wrong time would place all its fences wrongly.
    guard engine.stopped == nil, clock.isTrusted else { return }
    if let inUse = pingSession.inUse, fencesOfSession >= Self.fencesPerSession { pingSession.filled(inUse) }
    let now = clock.now
    let decision = pingSession.tick(at: now, path: engine.path)
    if let target, generations[target] != pingSession.inUse { stopPings(target, at: now) }
    switch decision {
    case .prepare(let generation): prepare(generation, at: now)
    case .send: pausePings(false)
    case .skip: pausePings(true)
    }
  }

  private var fencesOfSession: Int {
    engine.fences.reversed().prefix { $0.session == engine.sessions.count - 1 }.count
  }

  private func pausePings(_ pause: Bool) {
    guard let target, isPaused != pause else { return }
    isPaused = pause
    if pause { sources.pinger.pause(target) } else { sources.pinger.resume(target) }
  }

  private func prepare(_ generation: PingSession.Generation, at now: DriveTime) {
    if let unused, unused.isUsable(at: now, configuration.recovery) {
      granted(unused, generation)
    } else {
      unused = nil
      if engine.sessions.last?.testUUID != nil { logger.info("asking the control server for another test") }
      // One that has taken too long, or began without a network, is still under way; there is never a second one.
      if let request { giveUp(request, at: now) }
      let task = sources.requestTest(
        for: generation, at: clock.wholeMillisecond(now), started: clock.started, loopUUID: loopUUID)
      request = (task, now)
    }
  }

  private func giveUp(_ request: (task: Task<Void, Never>, asked: DriveTime), at now: DriveTime) {
    request.task.cancel()
    let timeout = configuration.recovery.prepareTimeout
    guard now - request.asked >= timeout else { return }
    complain("the control server has not answered within \(DurationText.text(timeout.inSeconds))")
  }

  func granted(_ grant: Grant, _ generation: PingSession.Generation) {
    for oddity in grant.coverage.oddities where toldOddities.insert(oddity).inserted { logger.warning("\(oddity)") }
    unused = grant
    guard pingSession.awaits(generation) else { return }
    request = nil
    pingSession.granted(generation, at: clock.now)
    sources.resolve(grant, for: generation)
  }

  func resolved(_ address: PingAddress, _ grant: Grant, _ generation: PingSession.Generation) {
    guard pingSession.awaits(generation) else { return }
    do {
      let pings = try startPings(to: address, of: grant.coverage)
      begin(grant, generation, pings)
      logger.info("test \(grant.coverage.testUUID): pinging \(address)")
    } catch {
      unusable("cannot ping \(address): \(error)", generation)
    }
  }

  private func begin(_ grant: Grant, _ generation: PingSession.Generation, _ pings: PingTarget.ID) {
    unused = nil
    serverTrouble = nil
    let coverage = grant.coverage
    loopUUID = coverage.loopUUID ?? loopUUID
    if let loop = coverage.loopUUID {
      let isFirst = engine.sessions.count == 1 && engine.sessions[0].testUUID == nil
      journal.setLoop(loop, ofSession: isFirst ? 0 : engine.sessions.count)
    }
    record(
      .session(
        SessionGrant(
          testUUID: coverage.testUUID, anchor: grant.told.since(clock.started), maximumDuration: coverage.maximumDrive))
    )
    pingSession.activated(generation, limit: coverage.maximumSession, requested: grant.requested, at: clock.now)
    if let target { stopPings(target, at: engine.latestChange) }
    (target, isPaused) = (pings, false)
    generations[pings] = generation
  }

  /// Pings of `target` that were sent before `time` still count.
  private func stopPings(_ target: PingTarget.ID, at time: DriveTime) {
    sources.pinger.stop(target)
    cuts[target] = time
    self.target = nil
  }

  private func startPings(to address: PingAddress, of grant: CoverageGrant) throws(PingerError) -> PingTarget.ID {
    var wanted = PingTarget(
      address: address, echo: .rtr(token: grant.pingToken), interface: link.interface,
      interval: configuration.pings.interval, timeout: configuration.pings.timeout)
    wanted.awaitsInterface = true
    // The first one after the session has begun.
    return try pings.begin(wanted, host: grant.pingHost, firstSlot: Pinger.now + 20_000_000)
  }

  func unusable(_ reason: String, _ generation: PingSession.Generation) {
    pingSession.activationFailed(generation, at: clock.now)
    complain(reason)
  }

  func complain(_ reason: String) {
    if serverTrouble != reason { logger.warning("\(reason); the drive goes on, trying again") }
    serverTrouble = reason
  }
}
