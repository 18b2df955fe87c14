import ControlServer
import Coverage
import Logging
import Pinging
import Settings

/// The tests of the control server that a drive goes through, and their pings.
extension Drive {
  /// Requests stay small, and a server's trouble with one costs no more than this (docs/protocol.md, 3.5).
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
    case .send, .skip: break
    }
  }

  private var fencesOfSession: Int {
    engine.fences.reversed().prefix { $0.session == engine.sessions.count - 1 }.count
  }

  private func prepare(_ generation: PingSession.Generation, at now: DriveTime) {
    if let unused, unused.isUsable(at: now, in: pingSession, configuration.recovery) {
      granted(unused, generation)
    } else {
      unused = nil
      if engine.sessions.last?.testUUID != nil { logger.info("asking the control server for another test") }
      // One that has taken too long, or began by another link, is still under way; there is never a second one.
      if let request { giveUp(request, at: now) }
      let task = sources.requestTest(
        for: generation, at: clock.wholeMillisecond(now), started: clock.started, loopUUID: loopUUID)
      request = TestRequest(task: task, generation: generation, asked: now)
    }
  }

  private func giveUp(_ request: TestRequest, at now: DriveTime) {
    request.task.cancel()
    let timeout = configuration.recovery.prepareTimeout
    guard now - request.asked >= timeout else { return }
    complain(TestTrouble("the control server has not answered within \(DurationText.text(timeout.inSeconds))"))
  }

  /// The request ended without a test. Why counts even where it is not waited for any more.
  func requestFailed(_ trouble: TestTrouble, _ generation: PingSession.Generation) {
    if request?.generation == generation {
      request = nil
      complain(trouble)
    }
    pingSession.requestFailed(generation, at: clock.now)
  }

  /// A test came. While no other is in use, the fences belong to it from now on, whether or not pings can begin on it: a test that
  /// is not used stays empty at the server for good.
  func granted(_ grant: Grant, _ generation: PingSession.Generation) {
    let oddities = grant.coverage.oddities + [grant.oddity(forPingsOf: configuration.pings.family)].compactMap { $0 }
    for oddity in oddities where toldOddities.insert(oddity).inserted { logger.warning("\(oddity)") }
    if request?.generation == generation { request = nil }
    let isAwaited = pingSession.awaits(generation)
    if engine.sessions.last?.testUUID == nil || (isAwaited && pingSession.inUse == nil) { beginSession(grant) }
    unused = grant
    guard isAwaited else { return }
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
    (serverTrouble, lastTrouble) = (nil, nil)
    troubles.end()
    beginSession(grant)
    pingSession.activated(
      generation, limit: grant.coverage.maximumSession, requested: grant.requested, at: clock.now)
    if let target { stopPings(target, at: engine.latestChange) }
    target = pings
    generations[pings] = generation
  }

  /// What is measured from now on belongs to that test, as all does that has none.
  private func beginSession(_ grant: Grant) {
    let coverage = grant.coverage
    guard engine.sessions.last?.testUUID != coverage.testUUID else { return }
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
    complain(TestTrouble(reason), warning: "the ping server cannot be pinged")
  }

  /// - Parameter warning: For the status, until there is a test.
  func complain(_ trouble: TestTrouble, warning: String = "no test from the control server") {
    if troubles.isNews(trouble) { logger.warning("\(trouble.text); the drive goes on, trying again") }
    (serverTrouble, lastTrouble) = (warning, trouble.text)
  }
}

/// A request for a test that is not answered yet.
struct TestRequest {
  let task: Task<Void, Never>
  let generation: PingSession.Generation
  let asked: DriveTime
}
