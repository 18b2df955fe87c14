import ControlServer
import Coverage
import DriveStore
import Foundation
import Logging

/// Sends what waits in the store to the control server: nothing lost, nothing twice.
///
/// Passes never overlap: one that is asked for during another waits for it. All decisions are values (``CircuitBreaker``,
/// ``Backoff``, ``Verdict``, ``PassMode``, ``HistoryReading``); this is the shell round them. Cancelling a pass at any point loses
/// nothing: what may have left is on disk before it does, and asked about afterwards.
public actor Sender {
  let store: DriveStore
  let server: ControlServerClient
  let registration: Registration
  let settings: SenderSettings
  let clock: SenderClock
  let logger: Logger
  private let turn = Turn()
  var backoff: Backoff
  /// The wait after the store has failed: that says nothing of the server.
  var storeBackoff: Backoff
  var serverTime = ServerTime()
  /// Whether the log has it that the state directory holds too much, and that nothing of it may go.
  var isExcessTold = false
  var isMakingRoom = false
  var breaker: CircuitBreaker
  private var keptBreaker: CircuitBreaker
  private var breakerWrites = OrderedWrites()
  /// The breaker's leave for what is being done now.
  private var call: CircuitBreaker.Call?
  private var isSpreadDue = true
  private var spreadWait: Task<Void, any Error>?
  /// The wait between two passes of ``keepSending(every:)``.
  var idleWait: Task<Void, any Error>?
  var isNudged = false
  /// Since boot: a request beside the passes does not leave before.
  var leaveAloneUntil = Duration.zero
  /// The first of the drives that are being recorded.
  public private(set) var runningDrive: Int64?
  /// `nil` before the first one.
  public private(set) var lastPass: EndedPass?

  /// - Throws: `StoreError`, or GRDB's `DatabaseError`
  public init(
    store: DriveStore, server: ControlServerClient, registration: Registration,
    settings: SenderSettings = SenderSettings(), clock: SenderClock, logger: Logger
  ) throws {
    self.store = store
    self.server = server
    self.registration = registration
    self.settings = settings
    self.clock = clock
    self.logger = logger
    backoff = Backoff(base: settings.backoff, cap: settings.backoffMax)
    storeBackoff = backoff
    do {
      breaker = try CircuitBreaker.stored(
        in: StoreReader(store), server: server.url, policy: settings.breaker, clock: clock)
    } catch let error as DecodingError {
      logger.warning("the store's circuit breaker cannot be read; it begins closed: \(error)")
      breaker = CircuitBreaker(policy: settings.breaker)
    }
    keptBreaker = breaker
  }

  /// Tells which drives are being recorded, one for each link: this one and all later ones; `nil` for none. No pass touches
  /// anything of them.
  public func setRunningDrives(from drive: Int64?) { runningDrive = drive }

  /// One pass over what waits. A record that the server refuses does not hold up the others; a server that cannot take anything
  /// ends the pass.
  /// - Throws: GRDB's `DatabaseError` when the store fails.
  public func pass(_ mode: PassMode, urgency: Urgency = .commanded) async throws -> Report {
    // Somebody waits: a pass before this one that is still waiting for its share of the spread begins now.
    if urgency != .background { spreadWait?.cancel() }
    do {
      return try await turn.run { try await self.runPass(mode, urgency) }
    } catch is CancellationError {
      var report = Report()
      report.wasStopped = true
      return report
    }
  }

  /// The sender for status and metrics.
  public var status: SenderStatus {
    let now = clock.boot()
    let wait = max(breaker.remaining(at: now), backoff.remaining(at: now))
    return SenderStatus(breaker: breaker.snapshot(at: now), nextAttemptInMilliseconds: wait.inWholeMilliseconds)
  }

  private func runPass(_ mode: PassMode, _ urgency: Urgency) async throws -> Report {
    guard clock.wall() >= .earliestTrusted else { return Report(hold: .clock) }
    var pass = Pass(mode: mode, urgency: urgency, running: try await firstRunningDrive())
    do {
      try await prepare(&pass)
      guard !pass.queue.isEmpty else { return pass.report }
      try await hold(urgency)
      try await settleAge(&pass)
      try await settleDoubts(&pass)
      try await deliverAll(&pass)
      try await endCall(.success)
    } catch let end as PassEnd {
      try await conclude(&pass, end)
    } catch let failure as ServerFailure {
      try await conclude(&pass, Task.isCancelled ? .stopped(failure) : .failed(failure))
    } catch is CancellationError {
      try await conclude(&pass, .stopped(nil))
    } catch {
      // The store's trouble says nothing of the server's.
      try await endCall(.cancelled)
      throw error
    }
    pass.complete()
    logger.info("\(mode) pass: \(pass.summary)")
    lastPass = EndedPass(ended: clock.wall(), report: pass.report)
    return pass.report
  }

  /// Waits until a request may leave.
  /// - Throws: ``PassEnd``, `CancellationError`
  private func hold(_ urgency: Urgency) async throws {
    if urgency == .background {
      let remaining = backoff.remaining(at: clock.boot())
      if remaining > .zero { throw PassEnd.held(.trouble(remaining)) }
      if isSpreadDue { try await waitForSpread() }
    }
    isSpreadDue = false
    try await takeCall(force: urgency == .forced)
  }

  private func waitForSpread() async throws {
    let wait = Task { [clock, settings] in try await clock.sleep(settings.spread * clock.random()) }
    spreadWait = wait
    _ = await withTaskCancellationHandler {
      await wait.result
    } onCancel: {
      wait.cancel()
    }
    spreadWait = nil
    try Task.checkCancellation()
  }

  private func conclude(_ pass: inout Pass, _ end: PassEnd) async throws {
    switch end {
    case .held(let hold): pass.report.hold = hold
    case .stopped(let failure):
      pass.report.wasStopped = true
      pass.note(failure)
      try await endCall(.cancelled)
    case .failed(let failure):
      logger.warning("\(pass.mode) pass ends: \(failure)")
      pass.note(failure)
      try await endCall(.failure)
      await noteTrouble(failure, pass.urgency)
    }
  }

  private func noteTrouble(_ failure: ServerFailure, _ urgency: Urgency) async {
    let now = clock.boot()
    let verdict = Verdict(failure)
    switch verdict {
    case .tooManyRequests: backoff.refused(at: now, random: clock.random())
    case .forbidden:
      // Nobody tries again after a pass on command.
      let plan = urgency == .background ? "; trying again in 15 min" : ""
      logger.error("the control server wants nothing from this device\(plan): \(failure)")
      backoff.pause(for: .seconds(15 * 60), at: now)
    default: backoff.failed(at: now, random: clock.random())
    }
    leaveAlone(for: failure.retryAfter)
    if let wait = failure.retryAfter {
      backoff.wait(atLeast: min(wait, CircuitBreaker.Policy.retryAfterMax), at: now)
    }
    guard verdict != .tooManyRequests else { return }
    isSpreadDue = true
    // Before anything else is sent, the server has to show that it is there.
    await registration.doubt()
  }

  // MARK: The breaker

  /// Runs one request, if the breaker lets it leave.
  /// - Throws: ``PassEnd``, `ControlServer.ServerFailure`, GRDB's `DatabaseError`, `CancellationError`
  func request<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    try await takeCall()
    _ = server.takeDate()
    defer { noteServerTime() }
    do {
      return try await body()
    } catch let failure as ServerFailure {
      if case .tooManyRequests(let retryAfter) = failure {
        try await endCall(.tooManyRequests(retryAfter: retryAfter))
      }
      throw failure
    }
  }

  private func takeCall(force: Bool = false) async throws {
    // A request beside the pass may have opened the breaker meanwhile.
    if let call, breaker.allows(call) { return }
    call = breaker.begin(at: clock.boot(), force: force)
    guard call != nil else { throw PassEnd.held(.breaker(breaker.remaining(at: clock.boot()))) }
    try await keepBreaker()
  }

  func endCall(_ outcome: CircuitBreaker.Outcome) async throws {
    guard let ended = call else { return }
    call = nil
    breaker.end(ended, outcome, at: clock.boot(), jitter: clock.random())
    try await keepBreaker()
  }

  var isBreakerClosed: Bool { breaker.state == .closed }

  func keepBreaker() async throws {
    guard breaker != keptBreaker else { return }
    if breaker.state != keptBreaker.state { logger.notice("circuit breaker: \(breaker.state.rawValue)") }
    keptBreaker = breaker
    let memory = try JSONEncoder().encode(breaker.memory(at: clock.boot(), bootID: clock.bootID))
    // A request beside the pass may be writing: the last state is to be the last on disk.
    try await breakerWrites.begin { [store, server] in
      try await store.setBreakerMemory(String(decoding: memory, as: UTF8.self), at: server.url)
    }.value
  }
}

/// A pass that is over.
public struct EndedPass: Hashable, Sendable {
  public let ended: WallTime
  public let report: Report
}

/// The sender for status and metrics.
public struct SenderStatus: Codable, Hashable, Sendable {
  public let breaker: BreakerSnapshot
  /// Milliseconds until a pass in the background may send; 0: at once.
  public let nextAttemptInMilliseconds: Int64
}
