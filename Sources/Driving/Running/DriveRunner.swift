import Coverage
import Logging
import Pinging
import Store
import Submission

/// The shell of a ``Drive``: passes it inputs in one order, and runs the effects of each before the next one.
actor DriveRunner {
  /// A drive writes to the disk before its next input, so it must not block a thread that other tasks share.
  private let executor = DiskExecutor("drive")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private var drive: Drive
  private var disk: DriveDisk
  private var pings: CapturedPings
  private var verdicts = WaitingVerdicts()
  /// The time of the latest input.
  private var latest: UInt64 = 0
  private let sources: DriveSources
  private let timekeeper: Timekeeper
  private let logger: Logger
  private let onStatus: @Sendable (DriveStatus) -> Void
  /// The request for a test that is under way.
  private var request: Task<Void, Never>?
  /// Resumed when the drive is over.
  private var waiting: CheckedContinuation<Void, Never>?

  init(
    _ drive: Drive, disk: DriveDisk, sources: DriveSources, capture: RunningCapture?, timekeeper: Timekeeper,
    logger: Logger, onStatus: @escaping @Sendable (DriveStatus) -> Void
  ) {
    (self.drive, self.disk, self.sources, self.timekeeper) = (drive, disk, sources, timekeeper)
    (self.logger, self.onStatus) = (logger, onStatus)
    pings = CapturedPings(sources.pinger, capture: capture, logger: logger)
  }

  /// Runs until the drive stops, by a stop input or by its own decision.
  func run() async -> DriveSummary {
    handle(.began)
    await withTaskGroup { group in
      sources.start(in: &group)
      await handleSignals()
      group.cancelAll()
      request?.cancel()
      sources.stop()
    }
    handle(.ended)
    return drive.summary(drive: disk.drive, capture: closeCapture(), at: drive.clock.time(ofSlot: Pinger.now))
  }

  private func closeCapture() -> CaptureSummary? {
    guard let capture = pings.close() else { return nil }
    do {
      try disk.note(capture.note)
    } catch {
      logger.warning("\(error); the log lacks the counters of the capture")
    }
    return capture
  }

  /// Repeats the writes that the disk refused. For use after the end.
  /// - Parameter batches: What was sent from memory meanwhile, of any drive.
  /// - Returns: What is still in memory only, and the part of it that can be submitted.
  func save(sent batches: [BatchInMemory]) -> (rest: UnsavedDrive, part: DriveInMemory?) {
    guard !drive.isSaved, drive.isOver else { return (UnsavedDrive(), nil) }
    let own = batches.filter { $0.drive == disk.drive }
    if !own.isEmpty { handle(.sentFromMemory(own)) }
    handle(.ended)
    guard !drive.isSaved else { return (UnsavedDrive(), nil) }
    let rest = UnsavedDrive(drive.journal, link: drive.link.name)
    return (rest, drive.recorded.inMemory(as: disk.drive, log: disk.files.log))
  }

  /// Stops the pings, waits for the verdicts of those on their way, and writes all of the drive to the disk.
  func prepareForSleep(verdictsWithin limit: Duration) async {
    readPings()
    handle(.sleep)
    do {
      try await Task.sleep(for: limit)
    } catch {
      // The service ends: the drive's end writes everything.
      return
    }
    readPings()
    handle(.flush)
  }

  /// The delays of the pings beside the speed test that has just ended; waits for the verdicts of those on their way.
  func delaysOfSpeedTest(verdictsWithin limit: Duration) async -> [SpeedTestDelay] {
    try? await Task.sleep(for: limit)
    readPings()
    return drive.drainDelays()
  }

  /// Goes on after a sleep.
  func wake() { handle(.wake) }

  // MARK: Inputs

  /// Handles signals until the drive is over. When the task is cancelled, the drive is stopped.
  private func handleSignals() async {
    sources.inbox.open(executor.signal { self.assumeIsolated { $0.handleSignals() } })
    guard !drive.isOver else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting = $0 }
    } onCancel: { [sources] in
      // The sources end too, and none is left to tell the last verdicts: the second stop does not wait for them.
      for _ in 1...2 { _ = sources.requestStop() }
    }
  }

  private func handleSignals() {
    for step in BatchStep.all(of: sources.inbox.drain()) where !drive.isOver {
      readPings(until: step.boot ?? .max)
      if !drive.isOver { handle(input(of: step.signal), at: step.boot, decides: step.isLast) }
    }
    guard drive.isOver else { return }
    waiting?.resume()
    waiting = nil
  }

  /// - Parameter boot: Verdicts that came later wait for the next call; without it, none does.
  private func readPings(until boot: UInt64 = .max) {
    while !drive.isOver {
      verdicts.add(sources.pinger.events.available())
      let events = verdicts.take(until: boot)
      if events.isEmpty { return }
      for event in events { handle(.ping(event), at: boot == .max ? nil : boot, decides: false) }
    }
  }

  private func input(of signal: DriveSignal) -> DriveInput {
    switch signal {
    case .input(let input): return input
    case .pingsDue: return .pingsRead
    case .tick:
      pings.follow()
      timekeeper.publishHere()
      return .tick(DriveReadings(clock: timekeeper.read(), isCaptureInTrouble: pings.isCaptureInTrouble))
    }
  }

  /// - Parameter boot: When it happened, on the clock of `Pinger.now`, but not before an earlier input; `nil`: now.
  private func handle(_ input: DriveInput, at boot: UInt64? = nil, decides: Bool = true) {
    var moment = latest
    drive.run(
      input, decides: decides,
      now: {
        moment = max(boot ?? Pinger.now, moment)
        return moment
      }, perform: perform)
    latest = moment
  }

  // MARK: Effects

  private func perform(_ effect: DriveEffect) -> DriveInput? {
    switch effect {
    case .disk(let effect):
      let began = ContinuousClock.now
      let answer = disk.perform(effect)
      noteHang(ContinuousClock.now - began)
      return answer.map { .disk($0) }
    case .proceed(let stage): return .proceed(stage)
    case .log(let level, let line, let event):
      logger.log(level: level, "\(line)", metadata: event.map { [OperatorEvent.key: .stringConvertible($0)] })
    case .report(let status): onStatus(status)
    case .requestTest(let wanted): request = sources.requestTest(wanted)
    case .cancelRequest: request?.cancel()
    case .resolve(let grant, let generation, let known): sources.resolve(grant, for: generation, orElse: known)
    case .beginPings(let start): return begin(start)
    case .stopPings(let target): pings.stop(target)
    case .removePings(let target): pings.remove(target)
    case .redirectPings(let target, let address): pings.redirect(target, to: address)
    case .lookUp(let host, let address): sources.lookUp(host, like: address)
    }
    return nil
  }

  private func noteHang(_ duration: Duration) {
    guard duration >= .seconds(2) else { return }
    logger.warning("the disk took \(duration.inMilliseconds / 1000) s for an answer; pings went on meanwhile")
  }

  private func begin(_ start: PingStart) -> DriveInput {
    do {
      return .pingsBegan(try pings.begin(start.target, firstSlot: start.firstSlot), start)
    } catch {
      return .pingsRefused(reason: "\(error)", start)
    }
  }
}

extension Drive {
  /// Handles `input`, then runs its effects in order, including those that follow from their answers.
  /// - Parameters:
  ///   - input: The input.
  ///   - decides: Whether to decide about tests and pauses afterwards; not, while later inputs wait.
  ///   - now: Returns the current `Pinger.now`, in nanoseconds.
  ///   - perform: Runs an effect, and returns its answer if it has one.
  mutating func run(
    _ input: DriveInput, decides: Bool = true, now: () -> UInt64, perform: (DriveEffect) -> DriveInput?
  ) {
    var waiting = [DriveEffect](handle(input, at: now()).reversed())
    while let effect = waiting.popLast() {
      if case .proceed(.decision) = effect, !decides { continue }
      let answer: DriveInput? = if case .proceed(let stage) = effect { .proceed(stage) } else { perform(effect) }
      if let answer { waiting += handle(answer, at: now()).reversed() }
    }
  }
}

/// A signal of a batch, and how it is handled. After a disk that hung, a batch has the signals of seconds: positions, pings and the link are
/// handled at the time when they came; answers to requests come now, since their time limits begin with them. A pure value.
struct BatchStep {
  let signal: DriveSignal
  /// `nil`: now.
  let boot: UInt64?
  /// Decisions about tests follow the last one only: those of a past moment would start requests that are late at once.
  let isLast: Bool

  static func all(of batch: [DriveInbox.Dated]) -> [BatchStep] {
    let dated = batch.filter { !$0.signal.isAnswer }.map { ($0.signal, Optional($0.boot)) }
    let all = dated + batch.filter(\.signal.isAnswer).map { ($0.signal, nil) }
    return all.enumerated().map { BatchStep(signal: $1.0, boot: $1.1, isLast: $0 == all.count - 1) }
  }
}

/// The verdicts of pings that are read and not yet handled. A pure value.
struct WaitingVerdicts {
  private var events: [PingEvent] = []

  mutating func add(_ new: some Sequence<PingEvent>) { events += new }

  /// Removes the verdicts that came by `boot`, and returns them.
  mutating func take(until boot: UInt64) -> [PingEvent] {
    let taken = events.prefix { $0.occurred <= boot }
    events.removeFirst(taken.count)
    return Array(taken)
  }
}

/// The pinger of a drive, with a capture that follows its pings from server to server.
struct CapturedPings {
  private let pinger: Pinger
  private var capture: RunningCapture?
  private let logger: Logger
  /// The target that began last, and its address.
  private var latest: (target: PingTarget.ID, echo: PingTarget.Echo, address: PingAddress)?
  /// The flow before the present one; its answers may still arrive.
  private var former: CaptureFlow?

  init(_ pinger: Pinger, capture: RunningCapture?, logger: Logger) {
    (self.pinger, self.capture, self.logger) = (pinger, capture, logger)
  }

  /// Adds `target`, and sends its first ping after the capture follows it.
  /// - Throws: `PingerError`
  mutating func begin(_ target: PingTarget, firstSlot: UInt64? = nil) throws(PingerError) -> PingTarget.ID {
    let id = try pinger.add(target)
    former = flow ?? former
    latest = (id, target.echo, target.address)
    follow()
    try pinger.begin(id, at: firstSlot)
    return id
  }

  mutating func redirect(_ target: PingTarget.ID, to address: PingAddress) {
    if latest?.target == target { latest?.address = address }
    follow()
    do {
      try pinger.redirect(target, to: address)
    } catch {
      logger.warning("cannot ping \(address): \(error)")
    }
  }

  func stop(_ target: PingTarget.ID) { pinger.stop(target) }

  func remove(_ target: PingTarget.ID) { pinger.remove(target) }

  /// Makes the capture follow the pings: their local port can change when an interface comes back. Must be called
  /// once a second.
  mutating func follow() {
    guard capture != nil else { return }
    let flows = flow.map { [$0] + [former].compactMap { $0 } }
    if let line = capture?.follow(flows) { logger.warning("\(line)") }
  }

  var isCaptureInTrouble: Bool { capture?.isInTrouble == true }

  /// Completes the capture, if there is one.
  mutating func close() -> CaptureSummary? { capture?.close() }

  private var flow: CaptureFlow? {
    guard let latest, let port = pinger.state(of: latest.target)?.localPort else { return nil }
    return CaptureFlow(
      latest.echo == .icmp ? .icmp(identifier: port) : .udp(localPort: port), host: latest.address.host,
      port: latest.address.port)
  }
}
