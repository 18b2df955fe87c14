import Coverage
import Driving
import Logging
import Positioning
import Settings
import SpeedTest
import Store
import Submission
import SystemServices

/// The service: records when wanted, sends stored sessions, answers commands.
///
/// All events go into one stream. ``work()`` applies one at a time, then begins or ends a drive as decided, then reports to the service
/// manager. Commands come through the socket and the page between two steps. The tick of each second notices deadlines.
actor Service: ServiceCommands {
  /// The events that the service handles, one at a time and in order.
  private enum Input: Sendable {
    /// From the receiver, also between drives.
    case positioning(PositioningEvent)
    /// The drive of every link has stopped; its rows may still be in memory only.
    case driveEnded([DriveSummary])
    case loopEnded
    /// The recovery from the drive logs has ended, or left logs for later.
    case recovered(isLeft: Bool)
    /// The socket accepts commands, or will accept them as soon as the host lets it. Comes again after each new socket.
    case socketStarted
    /// The socket cannot be created, and waiting would not help: the service ends.
    case socketFailed(ServiceSocketError)
    case sleep(SleepNews)
    /// SIGHUP.
    case reload
    /// Comes each second.
    case tick
    /// A command was applied to the decision. Its answer waits until the stream ends.
    case commanded(AsyncStream<Void>.Continuation)
    /// SIGTERM or SIGINT.
    case stop
  }

  private enum Drive {
    case none
    case running(LiveDrive)
    /// The drive has ended, and not all of it is on the disk.
    case saving(DriveSaving)
  }

  /// How long a command waits for its effect, which its answer reports.
  private static let answerLimit = Duration.seconds(5)

  /// The settings in effect: a reload leaves those that need a restart at their old values.
  private var configuration: ProbeConfiguration
  let environment: DriveEnvironment
  private let inputs = AsyncStream.makeStream(of: Input.self)
  var decision: ServiceDecision
  private var drive = Drive.none
  private var beginTrouble = RepeatedTrouble()
  var readTrouble = RepeatedTrouble()
  /// The loop of speed tests: from the first drive on that wants one, until it is over.
  var loop: (running: RunningLoop, task: Task<Void, Never>, isStopped: Bool)?
  /// How many sessions are being forgotten: no recovery may begin meanwhile, which would restore them.
  var forgetting = 0
  /// What the recovery before the first drive left; it goes on while there is no drive.
  var recovery: RestOfRecovery
  var track = StatusTrack()
  private var manager: ServiceManager

  /// - Parameter variables: The process's environment, which names the service manager.
  init(
    configuration: ProbeConfiguration, environment: DriveEnvironment, isRecoveryLeft: Bool = false,
    variables: [String: String] = [:]
  ) {
    (self.configuration, self.environment) = (configuration, environment)
    recovery = RestOfRecovery(isLeft: isRecoveryLeft)
    decision = ServiceDecision(RecordingDecision(rules: configuration.recordingRules))
    manager = ServiceManager(
      environment: variables, senderPatience: configuration.senderPatience, logger: environment.logger)
  }

  var logger: Logger { environment.logger }

  /// Runs until `stop` yields; then ends the drive. Unsent fences stay stored.
  ///
  /// The receiver, the sender, the socket, the page and the signals run as children of one task group, and only their events
  /// reach ``work()``. At a stop the drive ends first, then the loop of speed tests, then these children.
  /// - Parameter busAddress: The bus where logind is; `nil`: the system bus.
  /// - Throws: ``ServiceSocketError``; ``RecordingError`` when the disk refused fences to the end.
  func run(stop: AsyncStream<Void>, hangUp: AsyncStream<Void>, busAddress: String? = nil) async throws {
    let inputs = inputs.continuation
    let socket = ServiceSocket(
      path: configuration.servicePath, group: configuration.agent.socketGroup.map(SocketGroup.init(name:)),
      service: self, logger: logger)
    await withTaskGroup { group in
      group.addTask { [positions = environment.positions] in await positions.run() }
      group.addTask { [positions = environment.positions] in await positions.deliver { inputs.yield(.positioning($0)) }
      }
      group.addTask { [sender = environment.sender, interval = configuration.agent.resendInterval] in
        await sender.keepSending(every: interval)
      }
      #if canImport(CSystemd)
        group.addTask { [watch = LogindWatch(address: busAddress, logger: logger)] in
          await watch.run { inputs.yield(.sleep($0)) }
        }
      #endif
      if let address = configuration.agent.page {
        let page = PageServer(
          address: address, directory: configuration.stateDirectory, service: self, store: environment.store,
          logger: logger, options: PageServer.options(basemap: configuration.agent.basemap, logger))
        group.addTask { await page.run() }
      }
      group.addTask { for await _ in stop { inputs.yield(.stop) } }
      group.addTask { for await _ in hangUp { inputs.yield(.reload) } }
      group.addTask { await eachSecond { inputs.yield(.tick) } }
      group.addTask {
        do throws(ServiceSocketError) {
          try await socket.run { inputs.yield(.socketStarted) }
        } catch {
          inputs.yield(.socketFailed(error))
        }
      }
      await work()
      // A running test is aborted; the loop goes on after the next start.
      loop?.task.cancel()
      await loop?.task.value
      await recovery.pause()
      group.cancelAll()
    }
    if let failure = decision.failure { throw failure }
  }

  /// Handles the events in order. Returns when a stop is asked for, and no drive is left.
  private func work() async {
    for await input in inputs.stream {
      await handle(input)
      await reconcile()
      await reportToManager()
      if case .commanded(let effect) = input { effect.finish() }
      if decision.isOver { break }
    }
    inputs.continuation.finish()
    for await case .commanded(let effect) in inputs.stream { effect.finish() }
  }

  /// Applies one event. It begins no drive and ends none; ``reconcile()`` does.
  private func handle(_ input: Input) async {
    switch input {
    case .positioning(let event):
      if case .fix(let fix) = event { decision.recording.update(speed: fix.fix.speed, at: fix.arrival) }
      track.note(event)
    case .driveEnded(let summaries): driveEnded(summaries)
    case .loopEnded: await loopEnded()
    case .recovered(let isLeft): recovery.ended(isLeft: isLeft)
    case .sleep(let news): await handle(news)
    case .reload: await reload()
    case .tick, .commanded: break
    case .socketStarted: decision.socketStarted()
    case .socketFailed(let error): decision.stop(at: .now, because: error)
    case .stop: decision.stop(at: .now)
    }
  }

  /// Begins or ends a drive, as decided.
  private func reconcile() async {
    await putAway()
    switch decision.step(at: .now) {
    case .beginDrive: await begin()
    case .endDrive: runningDrive?.requestStop()
    case nil:
      if case .none = drive, !decision.isStopping, forgetting == 0 {
        recovery.resume(in: environment, configuration) { [inputs] in
          inputs.continuation.yield(.recovered(isLeft: $0))
        }
      }
    }
    track.note(decision, at: .now)
  }

  // MARK: Drives

  private var runningDrive: LiveDrive? { if case .running(let live) = drive { live } else { nil } }

  /// Begins a drive, which runs in a task of its own and comes back as an event. A failure is logged, and tried again after
  /// ``ServiceDecision/retryDelay``.
  private func begin() async {
    await recovery.pause()
    do {
      let loops = try await environment.beginDrive()
      let live = try await LiveDrive.open(
        options: configuration.driveOptions, continuing: loops, environment: environment)
      if let line = beginTrouble.end("a drive can begin again") {
        logger.notice("\(line)", metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.driveNotBegun)])
      }
      logger.info(
        "a drive begins (\(decision.recording.reason(at: .now)))",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.driveBegan)])
      drive = .running(live)
      decision.driveBegan()
      // A command can have ended the wish to record while the disk was slow.
      if decision.recording.wantsDrive(at: .now) { await followWithLoop(live) }
      track.driveBegan(configuration.driveOptions.links.map(\.name))
      Task { [inputs] in
        inputs.continuation.yield(.driveEnded(await live.run { links in Task { await self.note(links) } }))
      }
    } catch {
      let reason = "a drive cannot begin: \(StoreError.line(error))"
      decision.driveCouldNotBegin(reason, at: .now)
      let pause = ServiceDecision.retryDelay.components.seconds
      if let line = beginTrouble.note("\(reason); trying again each \(pause) s") {
        logger.error(
          "\(line)", metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.driveNotBegun)])
      }
    }
  }

  // MARK: Speed tests

  /// Goes on with the loop of speed tests, or begins one, if speed tests are wanted.
  private func followWithLoop(_ drive: LiveDrive) async {
    guard configuration.agent.loop == .withDrive else { return }
    do {
      if loop == nil { loop = try await beginLoop() }
      guard let loop, !loop.isStopped else { return }
      loop.running.setup.observer.follow(drive)
      loop.running.setup.conditions.note(drive: await environment.sender.runningDrive)
      loop.running.put(.resume)
    } catch {
      logger.error("no speed tests: \(StoreError.line(error))")
    }
  }

  private func beginLoop() async throws -> (RunningLoop, Task<Void, Never>, isStopped: Bool) {
    let rules = try configuration.loopRules()
    let running = try await RunningLoop(rules, configuration, environment) { [logger] news in
      if case .testEnded(let number, let end) = news {
        logger.info("speed test \(number) of \(rules.count): \(end.line)")
      }
    }
    logger.notice("a loop of speed tests: \(counted(rules.count, "test"))")
    return (
      running,
      Task { [inputs] in
        _ = await running.run()
        inputs.continuation.yield(.loopEnded)
      }, isStopped: false
    )
  }

  /// A loop that was stopped lasts until its test has ended: a drive that has begun meanwhile gets another loop.
  private func loopEnded() async {
    let wasStopped = loop?.isStopped == true
    loop = nil
    if wasStopped, let runningDrive, decision.recording.wantsDrive(at: .now) { await followWithLoop(runningDrive) }
  }

  /// The drive has ended: no test starts before the next one. A stop by the operator ends the loop too.
  private func pauseLoop() {
    guard let loop else { return }
    loop.running.setup.observer.follow(nil)
    loop.running.setup.conditions.note(drive: nil)
    loop.running.put(.pause)
  }

  /// Applies the status of a running drive, which comes once a second. The log gets a line each minute.
  private func note(_ links: [DriveStatus]) {
    track.note(links, isDriving: decision.isDriving)
    if decision.isDriving, let elapsed = links.first?.elapsed, elapsed.components.seconds % 60 == 0 {
      logger.info("\(DriveStatus.line(links))")
    }
  }

  /// Logs the results of a drive and adds them to the totals. The drive itself stays until it is on the disk.
  private func driveEnded(_ summaries: [DriveSummary]) {
    for summary in summaries {
      for (number, line) in summary.lines.enumerated() {
        // One event a drive, with the line that has its figures.
        logger.info(
          "\(line)", metadata: number == 0 ? [OperatorEvent.key: .stringConvertible(OperatorEvent.driveEnded)] : nil)
      }
    }
    summaries.compactMap(\.silenceLine).forEach { logger.warning("\($0)") }
    pauseLoop()
    track.driveEnded(summaries)
    if let runningDrive { drive = .saving(DriveSaving(runningDrive, in: environment)) }
    decision.driveEnded(
      wasShort: summaries.contains { $0.reason != .user && $0.lasted < ServiceDecision.retryDelay }, at: .now)
  }

  /// Releases the ended drive when all of it is on the disk. Otherwise writes it again, as long as the process lives; what the disk
  /// refuses is submitted from memory meanwhile.
  private func putAway() async {
    guard case .saving(var saving) = drive else { return }
    let rest = await saving.attempt(mayPause: !decision.isStopping)
    drive = .saving(saving)
    if let words = rest.words {
      let line = "\(words): \(rest.trouble ?? "")"
      let logger = logger.naming(rest.link)
      if words != decision.unsaved?.words {
        logger.error(
          "the drive has ended: \(line)",
          metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.diskTrouble)])
      }
      guard decision.refused(rest, line, at: .now) else { return }
      if rest.logLines > 0 {
        logger.error(
          "the drive log lacks its last \(counted(rest.logLines, "line")): \(rest.trouble ?? ""); the fences are not affected",
          metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.diskTrouble)])
      }
    }
    drive = .none
    decision.driveWasPutAway()
    await environment.sender.setRunningDrives(from: nil)
    if !decision.isStopping { await environment.sender.nudge() }
  }

  // MARK: Sleep

  /// The lock in `news` delays the sleep. It is released when this function has returned and no copy of it is left.
  private func handle(_ news: SleepNews) async {
    switch news {
    case .sleeping(let lock):
      decision.sleep()
      loop?.running.put(.sleep)
      await runningDrive?.prepareForSleep()
      // logind has waited until here.
      withExtendedLifetime(lock) {}
    case .awake:
      decision.wake()
      loop?.running.put(.wake)
      await runningDrive?.wake()
    }
  }

  // MARK: The service manager

  /// Reports the state to systemd, with a sign of life as long as drive and sender make progress.
  private func reportToManager() async {
    let progress = await environment.sender.progress
    var state = track.status(at: .now)
    state.disk = track.disk(decision, freeBytes: environment.store.directory.room)
    manager.report(
      ManagerMessages.State(
        isReady: decision.isSocketStarted, isStopping: decision.isStopping, words: state.words,
        driveProgress: decision.isDriving ? track.driveProgress : [:],
        senderSteps: progress.isIdle ? nil : progress.steps
      ))
  }

  // MARK: Configuration

  /// Reads the configuration again. A file that cannot be read, has a mistake, or is cut off so that no service would start with it,
  /// changes nothing.
  private func reload() async {
    manager.reloading()
    if let file = configuration.file, !InputFile.canBeReadAgain(file) {
      logger.error("configuration \(file) cannot be read again; the service goes on with its present settings")
      return
    }
    do {
      let next = try ProbeConfiguration.load(file: configuration.file)
      _ = try ControlServerClient.configured(next, for: ControlServerClient.nothingToPing, unlessTarget: true)
      let reload = ConfigurationReload(from: configuration, to: next)
      configuration = reload.configuration
      decision.recording.rules = configuration.recordingRules
      reload.lines.forEach { logger.notice("\($0)") }
    } catch {
      logger.error("\(error); the service goes on with its present settings")
    }
  }

  // MARK: Commands

  /// Applies a command to the decision, and answers when it has been followed: the answer is what `status` says from then on.
  func perform(_ command: ServiceCommand) async -> String {
    decision.apply(command)
    if command == .stop {
      loop?.running.put(.stop)
      loop?.isStopped = true
    }
    logger.notice("command: \(command.rawValue)")
    let (stream, effect) = AsyncStream.makeStream(of: Void.self)
    let giveUp = Task {
      try await Task.sleep(for: Self.answerLimit)
      effect.finish()
    }
    if case .terminated = inputs.continuation.yield(.commanded(effect)) { effect.finish() }
    for await _ in stream {}
    giveUp.cancel()
    return decision.answer(to: command, at: .now)
  }
}
