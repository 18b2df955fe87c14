import Coverage
import Logging
import Networking
import OrderedJSON
import Pinging
import Positioning
import Settings
import Store
import Submission

/// A drive on one link, from start to stop: inputs in, effects out. A pure value.
///
/// It reads no clock, does not wait and does no I/O: the time comes in with each input, and ``DriveRunner`` runs the
/// effects. The same inputs at the same times always give the same effects.
struct Drive: Sendable {
  let options: DriveOptions
  let link: LinkSettings
  var recorded: RecordedEngine
  private(set) var clock: DriveClock
  private var tests: ServerTests
  private(set) var pings = ServerPings()
  private var wayWatch = WayWatch()
  private(set) var reporting: DriveReporting
  private var isAsleep = false
  private var load = LoadedPings()
  /// When the drive ends, while pings that it sent are without a verdict.
  var endsAt: DriveTime?

  /// - Parameters:
  ///   - path: The kind of link at the start.
  ///   - loopUUID: The loop that the drive continues; `nil` for a new one.
  init(_ options: DriveOptions, link: LinkSettings, clock: DriveClock, path: Path, loopUUID: String? = nil) {
    (self.options, self.link, self.clock) = (options, link, clock)
    recorded = RecordedEngine(
      Engine(parameters: options.parameters, path: path),
      DriveJournal(started: clock.started, hasLog: options.writesLog),
      lostAfter: options.pingTimeout + options.pingInterval)
    tests = ServerTests(options.recovery, loopUUID: loopUUID)
    reporting = DriveReporting(link: link.name, target: options.target?.target)
  }

  /// Whether the drive has stopped, by a stop input or by its own decision. Further events have no effect.
  var isOver: Bool { engine.stopped != nil }

  var engine: Engine { recorded.engine }
  var journal: DriveJournal { recorded.journal }
  /// Whether all of the drive is in the store, including its end.
  var isSaved: Bool { journal.isComplete }
  private var isClockUsable: Bool { clock.isTrusted || !options.needsClock }

  // MARK: Inputs

  /// - Parameters:
  ///   - input: The input.
  ///   - boot: The current time in nanoseconds on the clock of `Pinger.now`.
  /// - Returns: The effects, to be run in this order (see ``run(_:now:perform:)``).
  mutating func handle(_ input: DriveInput, at boot: UInt64) -> [DriveEffect] {
    let now = clock.time(ofSlot: boot)
    if now >= limit, !isOver, endsAt == nil, pings.target != nil {
      return stop(at: max(limit, engine.now)) + handle(input, at: boot)
    }
    switch input {
    case .began: return recorded.begin() + logClock(at: now)
    case .sentFromMemory(let batches):
      recorded.journal.batches = batches
      return []
    case .ended: return ended(at: now)
    case .disk(let answer): return recorded.journal.handle(answer, of: engine)
    case .proceed(let stage): return proceed(to: stage, at: now)
    case .pingsBegan(let target, let start): return pingsBegan(target, start, at: now, boot)
    case .pingsRefused(let reason, let start):
      return tests.unusable("cannot ping \(start.address): \(reason)", start.generation, at: now)
    case _ where isOver: return []
    case .ping(let event): return handle(event, at: now, boot) + endWait(after: event)
    case .tick where isEnding: return endWait(at: now)
    case .stop: return stop(at: now)
    case _ where isEnding: return []
    case .pingsRead: return [.proceed(.decision)]
    case .positioning(let event): return handle(event, at: now) + [.proceed(.decision)]
    case .path(let reading): return handle(reading, at: now) + [.proceed(.decision)]
    case .radio(let reading): return handle(reading, at: now) + [.proceed(.decision)]
    case .granted(let grant, let generation): return granted(grant, generation, at: now) + [.proceed(.decision)]
    case .requestFailed(let trouble, let generation):
      return tests.failed(trouble, generation, at: now) + [.proceed(.decision)]
    case .resolved(let address, let grant, let generation):
      return resolved(address, grant, generation, at: boot) + [.proceed(.decision)]
    case .unresolved(let reason, let generation, let endsSilent):
      if endsSilent { tests.session.endSilent(for: generation) }
      return tests.unusable(reason, generation, at: now, mayHaveNetwork: options.target == nil) + [.proceed(.decision)]
    case .lookedUp(let host, let addresses):
      return pings.found(addresses, of: host, at: boot) + [.proceed(.decision)]
    case .lookUpFailed(let host, let reason):
      return pings.lookUpFailed(reason, of: host, at: boot) + [.proceed(.decision)]
    case .tick(let readings): return tick(readings, at: now, boot) + [.proceed(.decision)]
    case .sleep: return sleep(at: now)
    case .flush: return flush(at: now)
    case .speedTestBegan: return speedTestBegan(at: now)
    case .speedTestLoads(let part):
      load.enter(part, at: now)
      return []
    case .speedTestEnded: return speedTestEnded(at: now) + [.proceed(.decision)]
    case .wake: return wake() + [.proceed(.decision)]
    }
  }

  private mutating func proceed(to stage: DriveStage, at now: DriveTime) -> [DriveEffect] {
    switch stage {
    case .checkpointed(let time): journal.checkpointed(at: time)
    case .report(let time):
      [.report(reporting.report(of: engine, journal: journal, tests: tests, isClockTrusted: isClockUsable, at: time))]
    case .decision: isEnding ? [] : decide(at: now) + followPause(at: now)
    case .ending(let time, let reason): journal.end(at: time, reason)
    }
  }

  // MARK: Positioning

  private mutating func handle(_ event: PositioningEvent, at now: DriveTime) -> [DriveEffect] {
    switch event {
    case .fix(let positioned):
      reporting.note(positioned.fix, isAccurate: engine.parameters.accepts(positioned.fix))
      return recorded.record(
        positioned, arrived: clock.time(of: positioned.arrival), delivered: clock.time(of: positioned.delivered))
    case .status(let change): reporting.note(change)
    case .counters(let counters): reporting.note(counters)
    case .satellites, .clock: break
    }
    return []
  }

  // MARK: Pings

  private mutating func handle(_ event: PingEvent, at now: DriveTime, _ boot: UInt64) -> [DriveEffect] {
    pings.heard(event, at: boot)
    let generation = pings.generation(of: event.target)
    let at = clock.time(ofSlot: event.slot)
    let counts = pings.counts(event.target, at: at) && endsAt.map { at < $0 } ?? true
    switch event.kind {
    case .refused: return generation.map { tests.refused($0) } ?? []
    case .finished: return pings.finished(event.target)
    case .overflow(let count):
      return [.log(.error, "dropped \(count) ping results: the reader fell behind; they count in no fence")]
    // A refusal of the token is no answer, and an answer in time to a ping that met an error is not late.
    case .late(let rtt):
      let isLate = !event.flags.contains(.refused) && .nanoseconds(rtt) > options.pingTimeout
      return counts && isLate ? recorded.record(.late(rttNanoseconds: rtt), at: at) : []
    case .duplicate: return counts && !event.flags.contains(.refused) ? recorded.record(.duplicate, at: at) : []
    case .elsewhere: return event.from.map { reporting.note(answerFrom: $0) } ?? []
    default: break
    }
    let atClosedPort = pings.outcomeAtClosedPort(of: event)
    guard counts,
      let (outcome, trouble) = atClosedPort ?? event.outcome(on: reporting.network, radio: reporting.radio)
    else { return [] }
    // Another test can name another ping server.
    if let generation { tests.count(atClosedPort == nil ? outcome : .failed(.network), of: generation) }
    let part = load.count(outcome, at: at)
    let known = engine.pings
    let effects = recorded.record(
      .ping(outcome), at: at,
      beside: JSON.members([
        "sequence": event.sequenceOnWire.map { .integer(Int64($0)) }, "load": part.map { .string($0.rawValue) },
        "reason": trouble.map(JSON.string),
      ]))
    // A ping that ends the drive by its time is no part of it.
    guard engine.pings != known else { return effects }
    let isNews = reporting.count(outcome, trouble)
    guard isNews, let trouble else { return effects }
    return effects + [.log(.warning, "pings are not sent, and count as not measured: \(trouble)")]
  }

  /// Notes in the log when this probe itself stops measuring, and when it goes on.
  private mutating func followPause(at now: DriveTime) -> [DriveEffect] {
    let reason = pauseReason(at: now)
    // The first reason is kept while a pause lasts. Only a wait is replaced, by a later failure.
    let waits = [DriveStatus.addressUnknown, DriveStatus.testAwaited, DriveStatus.testEnded]
    let isNews = (reason == nil) != (engine.pause == nil) || engine.pause.map(waits.contains) == true
    return isNews && reason != engine.pause ? recorded.record(.unmeasured(reason), at: now) : []
  }

  /// Why this probe itself sends no pings, although the network may work; `nil`: it sends them, or it is on Wi-Fi or without a network.
  private func pauseReason(at now: DriveTime) -> String? {
    let hasService = reporting.radio?.modem?.hasService
    guard engine.path != .wifi, pings.target == nil, hasService != false else { return nil }
    if let noWay = reporting.network?.noWay {
      return UnsentPing(.noWay, noWay: noWay, hasService: hasService).isLost ? nil : reporting.network?.obstacle
    }
    if isAsleep { return "the host sleeps" }
    if pausesForTest(at: now) { return "a speed test runs" }
    if !isClockUsable { return DriveStatus.clockNotSet }
    let reason = tests.pauseReason(at: now)
    // Every drive starts with this wait. It counts only while a fence is open.
    return reason == DriveStatus.testAwaited && engine.openFence == nil ? nil : reason
  }

  // MARK: Network

  private mutating func handle(_ reading: PathReading, at now: DriveTime) -> [DriveEffect] {
    reporting.note(reading)
    var effects: [DriveEffect] = []
    let hasChanged = wayWatch.hasChanged(reading)
    if hasChanged {
      effects.append(
        .log(.notice, "the link of the pings has changed: \(reading); earlier tests are no longer used"))
      tests.session.linkChanged(at: now)
    }
    // Without a trusted clock, `decide` does not call `tick`, which would notice Wi-Fi.
    if reading.path == .wifi, engine.path != .wifi, !isClockUsable { tests.session.linkChanged(at: now) }
    if reading.path != engine.path { effects += recorded.record(.path(reading.path), at: now) }
    // After a disk that hung, the decision follows inputs of many seconds, and their fences.
    return hasChanged ? effects + stopUnusedPings(at: now) + followPause(at: now) : effects
  }

  private mutating func handle(_ reading: RadioReading, at now: DriveTime) -> [DriveEffect] {
    let news = reporting.note(reading, since: engine.sessions.last?.equipment, at: now)
    return news.flatMap { recorded.record($0, at: now) }
  }

  // MARK: Tests

  private mutating func decide(at now: DriveTime) -> [DriveEffect] {
    guard !isOver else { return [] }
    // A test requested with a wrong time would misplace all of its fences.
    guard isClockUsable, !isAsleep, !pausesForTest(at: now), !reporting.isAtDeadEnd else {
      return stopUnusedPings(at: now)
    }
    if let inUse = tests.session.inUse, isSessionFull { tests.session.filled(inUse) }
    let decision = tests.session.tick(at: now, path: engine.path)
    let effects = stopUnusedPings(at: now)
    switch decision {
    case .prepare(let generation): return effects + prepare(generation, at: now)
    case .send, .skip: return effects
    }
  }

  private mutating func stopUnusedPings(at now: DriveTime) -> [DriveEffect] {
    pings.generation == tests.session.inUse ? [] : pings.stop(at: now)
  }

  private var isSessionFull: Bool {
    let first = engine.fences.dropLast(RecordedEngine.fencesPerSession - 1).last
    return options.target == nil && first?.session == engine.sessions.count - 1
  }

  private mutating func prepare(_ generation: TestSelection.Generation, at now: DriveTime) -> [DriveEffect] {
    tests.replace(silent: pings.silentFamily, for: generation)
    if let target = options.target { return tests.aim(at: target, for: generation, by: clock, at: now) }
    if let grant = tests.usable(at: now) { return granted(grant, generation, at: now) }
    let isFirst = engine.sessions.last?.testUUID == nil
    return (isFirst ? [] : [.log(.info, "asking the control server for another test")])
      + tests.ask(for: generation, by: clock, at: now)
  }

  /// The server granted a test. If no test is in use, the fences belong to this one from now on, whether or not its
  /// pings can begin: an unused test would stay empty on the server.
  private mutating func granted(
    _ grant: GrantedTest, _ generation: TestSelection.Generation, at now: DriveTime
  ) -> [DriveEffect] {
    var effects = tests.answered(grant, generation, pinging: options.pingFamily)
    let isAwaited = tests.session.awaits(generation)
    if engine.sessions.last?.testUUID == nil || (isAwaited && tests.session.inUse == nil) {
      effects += beginSession(grant, at: now)
    }
    tests.unused = grant
    guard isAwaited else { return effects }
    tests.session.granted(generation, at: now)
    let known = tests.session.isAnswered ? pings.address(of: grant) : nil
    return effects + [.resolve(grant, for: generation, orElse: known)]
  }

  private func resolved(
    _ address: PingAddress, _ grant: GrantedTest, _ generation: TestSelection.Generation, at boot: UInt64
  ) -> [DriveEffect] {
    guard tests.session.awaits(generation) else { return [] }
    let echo = grant.echo(from: grant.localAddress ?? wayWatch.address, at: clock.started + clock.time(ofSlot: boot))
    return [.beginPings(PingStart(to: address, by: echo, on: grant, for: generation, options, link, at: boot))]
  }

  private mutating func pingsBegan(
    _ target: PingTarget.ID, _ start: PingStart, at now: DriveTime, _ boot: UInt64
  ) -> [DriveEffect] {
    guard !isOver, !isEnding, tests.session.awaits(start.generation) else { return [.stopPings(target)] }
    var effects = beginSession(start.grant, at: now)
    tests.began(start, at: now)
    effects += pings.stop(at: max(now, engine.latestChange))
    pings.begin(target, start, at: boot)
    return effects + [.log(.info, "\(start.grant.subject): pinging \(start.address)")]
  }

  /// Everything measured from now on belongs to the test, and so do earlier fences without one.
  private mutating func beginSession(_ grant: GrantedTest, at now: DriveTime) -> [DriveEffect] {
    guard let coverage = grant.coverage, engine.sessions.last?.testUUID != coverage.testUUID else { return [] }
    tests.follow(coverage.loopUUID)
    let session = SessionGrant(
      testUUID: coverage.testUUID, anchor: grant.requestTime.since(clock.started),
      maximumDuration: coverage.maximumDrive, localAddress: wayWatch.address, loopUUID: coverage.loopUUID)
    return recorded.record(.session(session), at: now)
  }

  // MARK: Time

  private mutating func tick(_ readings: DriveReadings, at now: DriveTime, _ boot: UInt64) -> [DriveEffect] {
    var effects = recorded.letTimePass(to: now)
    guard !isOver else { return effects }
    effects += follow(readings.clock, at: now)
    noteSilence(at: now)
    effects += pings.tick(at: boot)
    reporting.isCaptureInTrouble = readings.isCaptureInTrouble
    if recorded.isCheckpointDue(at: now) { effects += recorded.checkpoint(at: now) }
    return effects + [.proceed(.report(at: now))]
  }

  // MARK: Sleep

  /// Stops the pings before the host sleeps: their silence would count as loss. Pings on their way get their verdicts before the
  /// ``DriveInput/flush`` that follows. The test ends with its pings: the host can wake up elsewhere.
  private mutating func sleep(at now: DriveTime) -> [DriveEffect] {
    guard !isAsleep else { return [] }
    isAsleep = true
    tests.session.linkChanged(at: now)
    return [.log(.notice, "the host sleeps: no pings until it is awake", .sleep)] + stopUnusedPings(at: now)
      + flush(at: now)
  }

  private mutating func flush(at now: DriveTime) -> [DriveEffect] {
    let effects = recorded.letTimePass(to: now)
    return isOver ? effects : effects + recorded.checkpoint(at: now)
  }

  private mutating func wake() -> [DriveEffect] {
    guard isAsleep else { return [] }
    isAsleep = false
    return [.log(.notice, "the host is awake: the drive goes on", .sleep)]
  }

  // MARK: Speed tests

  private func pausesForTest(at now: DriveTime) -> Bool { options.pausesForTests && load.isLoaded(at: now) }

  /// Pauses the pings if the setting says so: no fence then has delays under load. The coverage test ends with the pings.
  private mutating func speedTestBegan(at now: DriveTime) -> [DriveEffect] {
    guard load.begin(at: now), options.pausesForTests else { return [] }
    tests.session.linkChanged(at: now)
    return [.log(.info, "a speed test begins: no pings until it has ended")] + stopUnusedPings(at: now)
  }

  private mutating func speedTestEnded(at now: DriveTime) -> [DriveEffect] {
    guard load.finish(at: now), options.pausesForTests else { return [] }
    return [.log(.info, "the speed test has ended: the pings resume")]
  }

  /// The delays of the pings beside the last speed test.
  mutating func drainDelays() -> [SpeedTestDelay] { load.drain() }

  mutating func noteSilence(at now: DriveTime) {
    reporting.noteSilence(
      path: engine.path, isClockTrusted: isClockUsable, tests: tests, isPinging: pings.target != nil, at: now)
  }

  /// During a drive another clock can be selected, or the host's clock can be set by a receiver or by NTP. Then all
  /// times so far move.
  private mutating func follow(_ reading: Timekeeper.Reading, at now: DriveTime) -> [DriveEffect] {
    var effects: [DriveEffect] = []
    if let step = clock.adjust(to: reading) {
      effects.append(
        .log(
          .notice, "the times of this drive were wrong: they move by \(step.inSeconds) s (\(reading.selection))", .clock
        ))
      recorded.journal.started = clock.started
      effects += recorded.record(.clockSet(by: step), at: now)
    }
    return effects + logClock(at: now)
  }

  private mutating func logClock(at now: DriveTime) -> [DriveEffect] {
    guard let news = clock.news() else { return [] }
    return journal.append(ClockNote(selection: news.selection, hostLead: news.hostLead, at: max(.start, now)))
  }
}
