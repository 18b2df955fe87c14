import Coverage
import Logging
import Store

/// Runs one pass: prepares the store, sends the batches that were never sent, reads the history for the others, sends
/// the rest.
struct PassRunner: PassStep {
  let parts: PassParts
  private var preparation: PassPreparation { PassPreparation(parts: parts) }
  private var dating: DriveDating { DriveDating(parts: parts) }
  private var delivery: Delivery { Delivery(parts: parts) }
  private var speedTests: SpeedTestDelivery { SpeedTestDelivery(parts: parts) }

  /// - Returns: The report, and whether there was anything to send.
  /// - Throws: GRDB's `DatabaseError` when the store fails.
  func run(
    _ mode: PassMode, _ urgency: ServerGate.Urgency, running: @Sendable () async -> Int64?
  ) async throws -> (report: PassReport, hadQueue: Bool) {
    guard clock.wall() >= .earliestTrusted else { return (try await heldByClock(except: running()), false) }
    // Repeats a write that failed earlier.
    await server.persist()
    var pass = Pass(mode: mode, urgency: urgency, running: try await housekeeping.firstRunningDrive(running))
    do {
      try await preparation.prepare(&pass)
      guard !pass.sessions.isEmpty || !pass.speedTests.isEmpty else { return (pass.report, false) }
      guard server.isPresent else { return (withoutServer(pass), false) }
      try await send(&pass)
      await conclude(&pass)
    } catch {
      guard let end = PassEnd(error, isCancelled: Task.isCancelled) else {
        // A failure of the store says nothing about the server.
        await server.end(pass.exchange, .cancelled)
        throw error
      }
      await conclude(&pass, end)
    }
    pass.complete()
    await reportHold(&pass)
    logger.info(
      "\(mode) pass: \(pass.summary)",
      metadata: pass.report.tally.fencesSent > 0
        ? [OperatorEvent.key: .stringConvertible(OperatorEvent.fencesSent)] : nil)
    return (pass.report, true)
  }

  /// Without a control server, what waits for one waits on; the store is looked after all the same.
  private func withoutServer(_ pass: Pass) -> PassReport {
    var report = pass.report
    report.tally = PassTally(fences: 0, kept: Set(pass.sessions))
    report.speedTests.kept = pass.speedTests.count
    report.firstFailure = .unreachable("(control-server.url is not set)")
    return report
  }

  private func heldByClock(except running: Int64?) async throws -> PassReport {
    var report = PassReport(hold: .clock)
    let sessions = try await store.reading { try $0.unsentSessions(except: running) }
    report.tally = PassTally(fences: 0, kept: Set(sessions.filter(\.isWaiting).map(\.id)))
    report.speedTests.kept = try await store.reading { try $0.unsentSpeedTests() }
    return report
  }

  private func send(_ pass: inout Pass) async throws {
    try await server.admit(pass.exchange, pass.urgency)
    // The clock may have been set while the pass waited for its share of the spread.
    try await dating.follow(&pass)
    try await dating.askForTime(&pass)
    try await preparation.confirmAge(&pass)
    do {
      try await reach(pass)
      try await preparation.lineUp(&pass)
      try await delivery.deliverAll(&pass)
      try await HistoryCheck(parts: parts).resolveDoubts(&pass)
      try await delivery.deliverAll(&pass)
    } catch PassEnd.failed(let failure) where !Verdict(failure).concernsEveryRequest {
      // Trouble with fences says nothing about speed tests.
      try await speedTests.deliverAll(&pass)
      throw PassEnd.failed(failure)
    }
    try await speedTests.deliverAll(&pass)
  }

  /// Confirms the registration, which the first batch needs, before there are batches: thousands of sessions can wait, and while the
  /// server is away, a pass ends here.
  private func reach(_ pass: Pass) async throws {
    guard !pass.sessions.isEmpty else { return }
    var rule = BatchRule()
    while true {
      do {
        _ = try await registration.clientUUID(for: pass.exchange)
        return
      } catch let failure as ServerFailure {
        if Task.isCancelled { throw PassEnd.stopped(failure) }
        let consequence = rule.consequence(of: failure, at: .settings, isSuspect: false)
        guard consequence == .registerAgain else { throw PassEnd.failed(failure) }
        await registration.doubt()
      }
    }
  }

  /// The pass has tried every batch of its queue.
  private func conclude(_ pass: inout Pass) async {
    guard let failure = pass.rule.unresolved else { return await server.end(pass.exchange, .success) }
    await server.end(pass.exchange, .cancelled)
    await noteTrouble(failure, pass.urgency)
  }

  private func conclude(_ pass: inout Pass, _ end: PassEnd) async {
    switch end {
    case .held(let hold):
      pass.report.hold = hold
      await server.end(pass.exchange, .cancelled)
    case .stopped(let failure):
      pass.report.wasStopped = true
      pass.note(failure)
      await server.end(pass.exchange, .cancelled)
    case .failed(let failure):
      logger.warning(
        "\(pass.mode) pass ends: \(failure)",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.passFailed)])
      pass.note(failure)
      pass.report.wasEndedByServer = true
      await server.end(pass.exchange, .failed(failure))
      await noteTrouble(failure, pass.urgency)
    }
  }

  private func noteTrouble(_ failure: ServerFailure, _ urgency: ServerGate.Urgency) async {
    let verdict = Verdict(failure)
    if verdict == .forbidden {
      // A commanded pass is not repeated.
      let plan = urgency == .background ? "; trying again in 15 min" : ""
      logger.error(
        "the control server refuses this device\(plan): \(failure)",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.deviceRefused)])
    }
    await server.troubled(by: failure)
    // The next pass must confirm the registration before it sends anything.
    if verdict != .tooManyRequests { await registration.doubt() }
  }

  /// Adds the end of the wait to the report.
  private func reportHold(_ pass: inout Pass) async {
    let speedTests = pass.report.speedTests
    guard pass.report.sessionsKept + speedTests.kept + speedTests.qosKept > 0, !pass.report.wasStopped else { return }
    if pass.report.hold == nil, let hold = await server.hold(.commanded) { pass.report.hold = .gate(hold) }
    if case .gate(let hold) = pass.report.hold {
      pass.report.heldUntil = clock.wall().adding(hold.wait)
    }
  }
}
