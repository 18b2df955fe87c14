import Coverage
import Logging
import Store
import Submission

/// Runs a loop of speed tests: the shell of ``LoopCoordinator``. One at a time in a process.
public actor LoopRunner {
  /// An element of the loop's one ordered stream.
  private enum Event: Sendable {
    case input(LoopInput)
    case testEnded(number: Int, TestEnd)
  }

  private let rules: LoopRules
  private let options: TestOptions
  private let environment: ControlledTest.Environment
  private let host: LoopHost
  private let report: @Sendable (LoopNews) -> Void
  private let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  private var coordinator: LoopCoordinator
  private var running: (number: Int, test: ControlledTest, task: Task<TestEnd, Never>)?
  /// The bytes that the coordinator knows, by the number of the test.
  private var charged: [Int: Int64] = [:]
  private var alarm: Task<Void, Never>?
  private var trouble = RepeatedTrouble()
  private nonisolated var logger: Logger { environment.logger }

  /// The time between two looks at the clocks, which notice a suspend, and at the bytes of a running test.
  private static let period = Duration.seconds(1)

  /// A loop that continues the stored one, if that is not over; else a new one.
  /// - Parameters:
  ///   - isNew: Begins a new loop even if the stored one is not over.
  ///   - report: Receives news; must return at once.
  /// - Throws: GRDB's `DatabaseError`
  public init(
    _ rules: LoopRules, options: TestOptions, environment: ControlledTest.Environment, isNew: Bool = false,
    host: LoopHost, report: @escaping @Sendable (LoopNews) -> Void
  ) async throws {
    (self.rules, self.options, self.environment, self.host) = (rules, options, environment, host)
    self.report = report
    (events, continuation) = AsyncStream.makeStream()
    let stored = try await Self.stored(in: environment.store, environment.logger)
    if let stored, !isNew, !stored.isOver {
      coordinator = LoopCoordinator(resuming: stored, rules, bootID: host.bootID, at: host.moment())
    } else {
      coordinator = LoopCoordinator(
        rules, usage: stored?.usage ?? DataUsage(), bootID: host.bootID, at: host.moment())
    }
  }

  /// The stored state; `nil` when there is none, or it is damaged.
  static func stored(in store: DriveStore, _ logger: Logger) async throws -> LoopMemory? {
    guard let text = try await store.loop.memory() else { return nil }
    do {
      return try LoopMemory(stored: text)
    } catch {
      logger.error("the stored loop cannot be used, and a new one begins: \(error)")
      return nil
    }
  }

  /// The state of the loop, for status output.
  public var memory: LoopMemory { coordinator.memory }

  /// Passes an input to the loop; returns at once. After the loop's end it has no effect.
  public nonisolated func put(_ input: LoopInput) { continuation.yield(.input(input)) }

  /// Runs until the loop is over, or the task is cancelled: then a running test is aborted, and the next process can resume the loop.
  /// - Returns: Why the loop ended; `nil` after a cancellation.
  public func run() async -> LoopEnd? {
    let ticking = Task { [continuation, host] in
      while !Task.isCancelled {
        continuation.yield(.input(.tick))
        try? await host.sleep(Self.period)
      }
    }
    await withTaskCancellationHandler {
      // The first tick follows the inputs from before the run: the first decision knows all of them.
      var hasTicked = false
      for await event in events {
        if case .input(.tick) = event { hasTicked = true }
        // Inputs from before the cancellation still count, but start no test: it would be aborted at once.
        coordinator.isClosed = !hasTicked || Task.isCancelled
        await handle(event)
        if coordinator.isOver { break }
      }
    } onCancel: {
      continuation.finish()
    }
    coordinator.isClosed = true
    ticking.cancel()
    if let running {
      running.test.abort("the program ends")
      let end = await running.task.value
      await charge(running.test.traffic.total, of: running.number)
      self.running = nil
      // Aborted during its QoS tests: its result is stored. The next process would count it as aborted.
      if end.outcome == .completed { await step(.testEnded(number: running.number, hasResult: true)) }
    }
    // After the last step, which can set it again.
    alarm?.cancel()
    // The bytes of a test that was aborted just now cost money too.
    await settle()
    if case .ended(let end) = coordinator.memory.stage { return end }
    return nil
  }

  private func settle() async {
    for effect in coordinator.handle(.checkpoint, at: host.moment()) {
      if case .persist(let memory) = effect { await persist(memory) }
    }
  }

  // MARK: Inputs

  private func handle(_ event: Event) async {
    switch event {
    case .input(let input):
      if let running { await charge(running.test.traffic.total, of: running.number) }
      await step(input)
    case .testEnded(let number, let end):
      if running?.number == number { running = nil }
      await charge(end.traffic.total, of: number)
      charged[number] = nil
      report(.testEnded(number: number, end))
      if end.wasSuspended { await step(.stalled(number: number)) }
      await step(.testEnded(number: number, hasResult: end.outcome == .completed))
    }
  }

  private func charge(_ total: Int64, of number: Int) async {
    let bytes = total - charged[number, default: 0]
    guard bytes > 0 else { return }
    charged[number] = total
    await step(.traffic(bytes: bytes))
  }

  private func step(_ input: LoopInput) async {
    for effect in coordinator.handle(input, at: host.moment()) { await run(effect) }
  }

  // MARK: Effects

  private func run(_ effect: LoopEffect) async {
    switch effect {
    case .abortTest(let number, let reason):
      guard let running, running.number == number else { return }
      running.test.abort(reason.rawValue)
      // Aborted during its QoS tests: its result is stored, and its end comes too late for the coordinator.
      if await running.task.value.outcome == .completed { coordinator.countResultOfAborted() }
    case .persist: await persist(coordinator.memory)
    case .startTest(let number, let loopUUID): start(number, loopUUID)
    case .notice(let notice):
      logger.notice("\(notice)", metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.loopHeld)])
      report(.notice(notice))
    case .ended(let end):
      logger.notice("the loop of speed tests is over: \(end.words)")
      report(.ended(end))
    case .wake(let time): wake(at: time)
    }
  }

  private func persist(_ memory: LoopMemory) async {
    do {
      try await environment.store.loop.persist(try memory.stored)
      if let line = trouble.end("the loop's state is stored again") { logger.notice("\(line)") }
    } catch {
      let line = "the loop's state cannot be stored: \(StoreError.line(error)); a restart would continue an older one"
      if let line = trouble.note(line) { logger.error("\(line)") }
    }
  }

  private func start(_ number: Int, _ loopUUID: String?) {
    report(.testBegan(number: number))
    let test = ControlledTest(
      environment, options: options,
      loop: .init(uuid: loopUUID, number: number, count: rules.count, every: rules.every, distance: rules.distance))
    let task = Task<TestEnd, Never> { [continuation, report, logger] in
      let end: TestEnd
      do {
        end = try await test.run { granted in
          guard let name = granted.grant.loopUUID else { return }
          continuation.yield(.input(.named(name, isNewLoop: granted.isInNewLoop)))
        } progress: {
          report(.progress(number: number, $0))
        }
      } catch {
        logger.error("speed test \(number) of the loop: the store fails: \(StoreError.line(error))")
        end = TestEnd(outcome: .failed, traffic: test.traffic, error: StoreError.line(error))
      }
      continuation.yield(.testEnded(number: number, end))
      return end
    }
    running = (number, test, task)
  }

  private func wake(at time: Duration) {
    alarm?.cancel()
    let wait = time - host.moment().boot
    alarm = Task { [continuation, host] in
      if wait > .zero, (try? await host.sleep(wait)) == nil { return }
      continuation.yield(.input(.tick))
    }
  }
}

extension LoopEnd {
  /// For an operator.
  public var words: String {
    switch self {
    case .count: "all tests were made"
    case .duration: "its longest duration has passed"
    case .user: "stopped"
    case .restart: "the program was restarted"
    }
  }
}

/// News of a running loop, for a display.
public enum LoopNews: Sendable {
  case testBegan(number: Int)
  case progress(number: Int, SpeedTestProgress)
  /// A test has ended; its result is on the disk, or in memory while the disk refuses it.
  case testEnded(number: Int, TestEnd)
  /// A test is due and cannot start.
  case notice(LoopNotice)
  case ended(LoopEnd)
}
