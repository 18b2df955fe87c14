import ControlServer
import Coverage
import DriveStore
import Foundation
import Logging

/// Sends what waits in the store to the control server: nothing lost, nothing twice.
///
/// Passes never overlap: one that is asked for during another waits for it. All decisions are values (``ServerGate``, ``Verdict``,
/// ``TroubleJudge``, ``PassMode``, ``HistoryReading``); this is the shell round them. Cancelling a pass at any point loses
/// nothing: what may have left is on disk before it does, and asked about afterwards.
public actor Sender {
  let store: DriveStore
  let server: ControlServerClient
  let registration: Registration
  let settings: SenderSettings
  /// Its wall time is that of the clock that rules.
  let clock: SenderClock
  let logger: Logger
  private let turn = Turn()
  /// The wait after the store has failed: that says nothing of the server.
  var storeBackoff: Backoff
  let timekeeper: Timekeeper
  /// Whether the log has it that the state directory holds too much, and that nothing of it may go.
  var isExcessTold = false
  var isMakingRoom = false
  var gate: ServerGate
  /// The gate as the store has it; `nil` when the last write failed.
  var rememberedGate: ServerGate.Lasting?
  var gateWrites = OrderedWrites()
  var isGateTroubleLogged = false
  var loggedBreakerState: CircuitBreaker.State
  /// The gate's leave for the pass under way.
  var call: ServerGate.Call?
  var spreadWait: Task<Void, any Error>?
  /// The wait between two passes of ``keepSending(every:)``.
  var idleWait: Task<Void, any Error>?
  var isNudged = false
  /// The first of the drives that are being recorded.
  public private(set) var runningDrive: Int64?
  /// `nil` before the first one.
  public private(set) var lastPass: EndedPass?

  /// - Parameters:
  ///   - clock: The host's clocks.
  ///   - timekeeper: Where several parts of a process go by the same time.
  /// - Throws: `StoreError`, or GRDB's `DatabaseError`
  public init(
    store: DriveStore, server: ControlServerClient, registration: Registration,
    settings: SenderSettings = SenderSettings(), clock: SenderClock, timekeeper: Timekeeper? = nil, logger: Logger
  ) throws {
    self.store = store
    self.server = server
    self.registration = registration
    self.settings = settings
    let keeper = try timekeeper ?? Timekeeper(store: store, server: server, clock: clock, logger: logger)
    self.timekeeper = keeper
    self.clock = clock.ruled(by: keeper)
    self.logger = logger
    storeBackoff = Backoff(base: settings.gate.backoff, cap: settings.gate.backoffMax)
    do {
      gate = try ServerGate.stored(
        in: StoreReader(store), server: server.url, policy: settings.gate, clock: clock)
    } catch let error as DecodingError {
      logger.warning("the store's circuit breaker cannot be read; it begins closed: \(error)")
      gate = ServerGate(policy: settings.gate)
    }
    rememberedGate = gate.lasting
    loggedBreakerState = gate.breaker.state
  }

  /// Tells which drives are being recorded, one for each link: this one and all later ones; `nil` for none. No pass touches
  /// anything of them.
  public func setRunningDrives(from drive: Int64?) { runningDrive = drive }

  /// One pass over what waits. A record that the server refuses does not hold up the others; a server that cannot take anything
  /// ends the pass.
  /// - Throws: GRDB's `DatabaseError` when the store fails.
  public func pass(_ mode: PassMode, urgency: ServerGate.Urgency = .commanded) async throws -> Report {
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
    let hold = gate.hold(.background, at: now)
    return SenderStatus(
      breaker: gate.breaker.snapshot(at: now), hold: hold,
      nextAttemptInMilliseconds: (hold?.wait ?? .zero).inWholeMilliseconds)
  }

  private func runPass(_ mode: PassMode, _ urgency: ServerGate.Urgency) async throws -> Report {
    guard clock.wall() >= .earliestTrusted else { return Report(hold: .clock) }
    // A write that failed earlier.
    await rememberGate()
    var pass = Pass(mode: mode, urgency: urgency, running: try await firstRunningDrive())
    do {
      try await prepare(&pass)
      guard !pass.queue.isEmpty else { return pass.report }
      try await begin(urgency)
      // The clock may have been set while the pass waited for its share of the spread.
      try await followClock(&pass)
      try await settleTimes(&pass)
      try await settleAge(&pass)
      try await deliverAll(&pass)
      try await settleDoubts(&pass)
      try await deliverAll(&pass)
      await conclude(&pass)
    } catch let end as PassEnd {
      await conclude(&pass, end)
    } catch let held as Held {
      await conclude(&pass, .held(.gate(held.hold)))
    } catch let failure as ServerFailure {
      await conclude(&pass, Task.isCancelled ? .stopped(failure) : .failed(failure))
    } catch is CancellationError {
      await conclude(&pass, .stopped(nil))
    } catch {
      // The store's trouble says nothing of the server's.
      await endCall(.cancelled)
      throw error
    }
    pass.complete()
    noteHold(&pass)
    logger.info("\(mode) pass: \(pass.summary)")
    lastPass = EndedPass(ended: clock.wall(), report: pass.report)
    return pass.report
  }

  /// After everything in the queue had its turn.
  private func conclude(_ pass: inout Pass) async {
    guard let failure = pass.judge.unresolved else { return await endCall(.success) }
    await noteTrouble(failure, pass.urgency)
  }

  private func conclude(_ pass: inout Pass, _ end: PassEnd) async {
    switch end {
    case .held(let hold):
      pass.report.hold = hold
      await endCall(.cancelled)
    case .stopped(let failure):
      pass.report.wasStopped = true
      pass.note(failure)
      await endCall(.cancelled)
    case .failed(let failure):
      logger.warning("\(pass.mode) pass ends: \(failure)")
      pass.note(failure)
      pass.report.wasEndedByServer = true
      await endCall(.failed(failure))
      await noteTrouble(failure, pass.urgency)
    }
  }

  private func noteTrouble(_ failure: ServerFailure, _ urgency: ServerGate.Urgency) async {
    let verdict = Verdict(failure)
    if verdict == .forbidden {
      // Nobody tries again after a pass on command.
      let plan = urgency == .background ? "; trying again in 15 min" : ""
      logger.error("the control server wants nothing from this device\(plan): \(failure)")
    }
    gate.troubled(by: failure, at: clock.boot(), random: clock.random())
    await rememberGate()
    // Before anything else is sent, the server has to show that it is there.
    if verdict != .tooManyRequests { await registration.doubt() }
  }

  /// Says until when what was kept has to wait.
  private func noteHold(_ pass: inout Pass) {
    guard pass.report.sessionsKept > 0, !pass.report.wasStopped else { return }
    if pass.report.hold == nil, let hold = gate.hold(.commanded, at: clock.boot()) { pass.report.hold = .gate(hold) }
    if case .gate(let hold) = pass.report.hold {
      pass.report.heldUntil = WallTime(microseconds: clock.wall().microseconds + hold.wait.inMicroseconds)
    }
  }
}

/// A pass that is over.
public struct EndedPass: Hashable, Sendable {
  public let ended: WallTime
  public let report: Report
}

/// The sender for status and metrics.
public struct SenderStatus: Hashable, Sendable {
  public let breaker: BreakerSnapshot
  /// Why no pass in the background may send now; `nil` when one may.
  public let hold: ServerGate.Hold?
  /// Milliseconds until a pass in the background may send; 0: at once.
  public let nextAttemptInMilliseconds: Int64
}
