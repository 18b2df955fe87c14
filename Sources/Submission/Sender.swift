import Coverage
import Logging
import Store

/// Sends the stored fences to the control server: no fence is lost, none is sent twice.
///
/// It runs one pass at a time, on command and in the background, beside the drives' requests for tests.
/// ``PassRunner`` defines the steps of a pass; every request leaves through ``GatedServer``. Cancelling a pass loses
/// nothing: before a batch leaves, the store marks it as sending, and a later pass reads the server's history for it.
public actor Sender {
  /// Requests tests for drives, and speed tests.
  public nonisolated let tests: TestRequester
  private let runner: PassRunner
  /// The fences that the disk refuses.
  private enum Memory { case none, held(PassRunner), sending(PassRunner) }
  private var memory = Memory.none
  private let speedTestsInMemory: SpeedTestsInMemory
  /// The drives of which the log says that they are submitted from memory.
  private var announced: Set<Int64> = []
  /// The numbers of the fences in ``memory`` that the server has, by drive.
  public private(set) var submittedFromMemory: [Int64: Set<Int>] = [:]
  private let mutex = AsyncMutex()
  /// The wait between two passes of ``keepSending(every:)``.
  private var idle: InterruptibleSleep?
  private var isNudged = false
  /// Passes that have begun or ended, and waits between them.
  private var turns: UInt64 = 0
  /// The lowest id of the running drives; `nil` when there are none.
  public private(set) var runningDrive: Int64?
  /// The last pass that had anything to send; `nil` before the first one.
  public private(set) var lastPass: EndedPass?

  /// - Parameter timekeeper: Where several parts of a process go by the same time.
  /// - Throws: `StoreError`, or GRDB's `DatabaseError`
  public init(
    store: DriveStore, server: ControlServerClient, settings: SenderSettings = SenderSettings(), clock: SenderClock,
    timekeeper: Timekeeper? = nil, logger: Logger
  ) throws {
    let timekeeper = try timekeeper ?? Timekeeper(store: store, server: server, clock: clock, logger: logger)
    try self.init(
      store: store, serving: server, settings: settings, clock: clock, timekeeper: timekeeper, logger: logger)
  }

  init(
    store: DriveStore, serving server: any ControlServing, settings: SenderSettings, clock host: SenderClock,
    timekeeper: Timekeeper, logger: Logger
  ) throws {
    let clock = host.timed(by: timekeeper)
    let server = GatedServer(
      server, gate: try .stored(in: store, server: server.url, policy: settings.gate, clock: host, logger: logger),
      store: store, clock: clock, timekeeper: timekeeper, logger: logger)
    let registration = Registration(store: store, server: server, logger: logger)
    tests = TestRequester(server: server, registration: registration, logger: logger)
    runner = PassRunner(
      parts: PassParts(
        store: store, server: server, registration: registration, settings: settings, clock: clock,
        timekeeper: timekeeper, logger: logger))
    speedTestsInMemory = SpeedTestsInMemory(parts: runner.parts)
  }

  private var server: GatedServer { runner.server }
  private var clock: SenderClock { runner.clock }
  private var logger: Logger { runner.logger }

  /// Sets the running drives, one for each link: this id and all later ones; `nil` for none. No pass changes anything
  /// of them.
  public func setRunningDrives(from drive: Int64?) { runningDrive = drive }

  /// The gate's state for status output and metrics.
  public var status: SenderStatus { get async { await server.status } }

  /// For a watchdog: whether the background passes make progress.
  public var progress: SenderProgress {
    get async { SenderProgress(isIdle: idle != nil, steps: turns &+ (await server.requests)) }
  }

  /// Deletes what the store may delete, because a write met a full disk.
  public func makeRoom() async { await runner.housekeeping.makeRoom { await self.runningDrive } }

  // MARK: Passes

  /// Runs one pass over the waiting sessions. A fence that the server refuses does not delay the others; a server
  /// that cannot accept anything ends the pass.
  /// - Throws: GRDB's `DatabaseError` when the store fails.
  public func pass(_ mode: PassMode, urgency: ServerGate.Urgency = .commanded) async throws -> PassReport {
    guard urgency != .background else { return try await passInTurn(mode, urgency) }
    // An operator waits: an earlier pass that still waits for its share of the spread starts now.
    await server.commandedPassBegins()
    let result: Result<PassReport, any Error>
    do {
      result = .success(try await passInTurn(mode, urgency))
    } catch {
      result = .failure(error)
    }
    await server.commandedPassEnded()
    return try result.get()
  }

  private func passInTurn(_ mode: PassMode, _ urgency: ServerGate.Urgency) async throws -> PassReport {
    do {
      return try await mutex.run { try await self.runPass(mode, urgency) }
    } catch is CancellationError {
      var report = PassReport()
      report.wasStopped = true
      return report
    }
  }

  private func runPass(_ mode: PassMode, _ urgency: ServerGate.Urgency) async throws -> PassReport {
    // These first: they are lost with the process.
    let fromMemory = try await runMemory(urgency)
    if mode == .memory { return fromMemory }
    let (stored, hadQueue) = try await runner.run(mode, urgency) { await self.runningDrive }
    var report = fromMemory + stored
    report.speedTests.kept += await speedTestsInMemory.waiting
    turns &+= 1
    if hadQueue { lastPass = EndedPass(ended: clock.wall(), report: report) }
    return report
  }

  // MARK: From memory

  /// Takes fences that the disk refuses. Each pass sends them first, with the same steps and rules as stored ones, until
  /// ``takeBack()``. The drives must be over.
  /// - Parameter sent: What was sent of them before.
  /// - Throws: GRDB's `DatabaseError`; then it has taken nothing.
  public func hold(_ drives: [DriveInMemory], sent: [BatchInMemory]) async throws {
    let store = try DriveStore.inMemory()
    for drive in drives { try await store.insert(drive, sent: sent) }
    let submitted = try await Self.submitted(of: store)
    // Last, so that after an error nobody but the caller has the fences.
    (memory, submittedFromMemory) = (.held(PassRunner(parts: runner.parts.of(store))), submitted)
    let isNews = drives.contains { !announced.contains($0.drive) }
    let fences = drives.reduce(0) { $0 + $1.unstored.subtracting(submittedFromMemory[$1.drive] ?? []).count }
    guard fences > 0 else { return }
    if isNews { logger.notice("\(counted(fences, "fence")) that the disk refuses will be submitted from memory") }
    announced.formUnion(drives.map(\.drive))
    nudge()
  }

  /// Gives back what ``hold(_:sent:)`` took: passes no longer send it.
  /// - Returns: The batches that may have left or have a test, for the write to the disk; `nil` while a pass sends them.
  public func takeBack() async -> [BatchInMemory]? {
    guard case .held(let held) = memory else { return nil }
    memory = .none
    do {
      return try await held.store.batchesInMemory()
    } catch {
      logger.error("the fences in memory cannot be read: \(StoreError.line(error))")
      memory = .held(held)
      return nil
    }
  }

  /// Takes a speed test that the disk refuses. Each pass sends it first; when the disk takes it, the store has it as it is then.
  /// - Parameter row: Its id in the store; `nil` when the store refused its start, too.
  /// - Throws: GRDB's `DatabaseError`; then it has taken nothing.
  public func hold(_ start: SpeedTestOutbox.Start, _ end: SpeedTestOutbox.End, as row: Int64?) async throws {
    try await speedTestsInMemory.add(start, end, as: row)
    logger.notice("a speed test that the disk refuses will be submitted from memory: test \(start.testUUID)")
    nudge()
  }

  /// Of a speed test that the disk refused: whether the server has it. `nil` for a test that is stored.
  public func hasSubmittedFromMemory(test uuid: String) async -> Bool? {
    await speedTestsInMemory.hasSubmitted(uuid)
  }

  private static func submitted(of store: DriveStore) async throws -> [Int64: Set<Int>] {
    try await store.batchesInMemory().filter(\.isSubmitted).reduce(into: [:]) {
      $0[$1.drive, default: []].formUnion($1.fences)
    }
  }

  private func runMemory(_ urgency: ServerGate.Urgency) async throws -> PassReport {
    let tests = try await speedTestsInMemory.send(urgency)
    var report = tests?.report ?? PassReport()
    var hadQueue = tests?.hadQueue ?? false
    if case .held(let memory) = memory {
      self.memory = .sending(memory)
      defer { if case .sending = self.memory { self.memory = .held(memory) } }
      let fences = try await memory.run(.memory, urgency) { nil }
      var sent = fences.report
      sent.tally = sent.tally.ofOtherStore
      report = report + sent
      hadQueue = hadQueue || fences.hadQueue
      if fences.hadQueue { submittedFromMemory = try await Self.submitted(of: memory.store) }
    }
    if hadQueue {
      turns &+= 1
      lastPass = EndedPass(ended: clock.wall(), report: report)
    }
    return report
  }

  // MARK: In the background

  /// Sends in the background until the task is cancelled. The first pass is cold, and repeated until one could run
  /// and left nothing of an earlier process behind. Then warm passes follow: after each `interval`, when a wait after
  /// trouble ends, and after each ``nudge()``.
  ///
  /// Logs an error of the store and repeats the pass after a back-off; on a full disk it frees space before that.
  /// - Returns: The number of fences that these passes deleted unsent, for a command that reports what was lost.
  @discardableResult
  public func keepSending(every interval: Duration = .seconds(15 * 60)) async -> Int {
    var schedule = PassSchedule(every: interval, policy: runner.parts.settings.gate)
    var (trouble, expired) = (RepeatedTrouble(), 0)
    while !Task.isCancelled {
      do {
        let report = try await pass(schedule.mode, urgency: .background)
        expired += report.fencesExpired
        schedule.passEnded(report)
        if let line = trouble.end("passes run again") { logger.notice("\(line)") }
      } catch {
        if let line = trouble.note("\(schedule.mode) pass: the store fails: \(StoreError.line(error))") {
          logger.error("\(line)")
        }
        if StoreError.isDiskFull(error) { await makeRoom() }
        schedule.storeFailed(at: clock.boot(), random: clock.random())
      }
      let gate: Duration = .milliseconds(await status.nextAttemptInMilliseconds)
      await idle(for: schedule.wait(gate: gate, at: clock.boot()))
    }
    return expired
  }

  /// Starts the next pass in the background now, e.g. because a drive asks for a test.
  public func nudge() {
    isNudged = true
    idle?.interrupt()
  }

  private func idle(for duration: Duration) async {
    defer { isNudged = false }
    // A nudge during the last pass.
    guard !isNudged else { return }
    let sleep = InterruptibleSleep(duration, clock)
    idle = sleep
    await sleep.finish()
    idle = nil
    turns &+= 1
  }
}

/// How far the sender is, for a watchdog.
public struct SenderProgress: Hashable, Sendable {
  /// It waits for the next pass.
  public let isIdle: Bool
  /// Grows with each request, and with each pass that ends.
  public let steps: UInt64
}

/// A finished pass.
public struct EndedPass: Hashable, Sendable {
  /// When it ended, by the selected clock.
  public let ended: WallTime
  /// Its result.
  public let report: PassReport
}
