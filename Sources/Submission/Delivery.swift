import ControlServer
import Coverage
import DriveStore
import Logging

/// Sending batches, and what follows from each answer.
extension Sender {
  func deliverAll(_ pass: inout Pass) async throws {
    while true {
      try Task.checkCancellation()
      try await followClock(&pass)
      try await settleTimes(&pass)
      guard let batch = pass.next else { return }
      try await deliver(batch, &pass)
    }
  }

  /// How sending a batch ended.
  private enum Sending {
    case accepted
    /// Its session was forgotten meanwhile.
    case nothingToSend
    case failed(ServerFailure, at: RequestStep)
  }

  /// Sends a batch and takes it out of the queue, unless the pass ends with it.
  private func deliver(_ queued: Batch, _ pass: inout Pass) async throws {
    var batch = queued
    var isRegisteredAnew = false
    var isAnchoredAnew = false
    while true {
      let sending = try await send(&batch, &pass)
      log(sending, of: batch)
      guard case .failed(let failure, let step) = sending else {
        if case .accepted = sending { return try await accepted(batch, &pass) }
        return pass.queue.removeAll { $0.id == batch.id }
      }
      if Task.isCancelled { throw PassEnd.stopped(failure) }
      switch Verdict(failure) {
      case .unknownClient where !isRegisteredAnew:
        isRegisteredAnew = true
        if step == .coverageResult { try await store.outbox.release(batch: batch.id) }
        await registration.doubt()
      case .noStartedTest where step == .coverageResult && !isAnchoredAnew:
        isAnchoredAnew = true
        guard try await anchorAnew(&batch, &pass) else { return }
      default: return try await failed(batch, failure, at: step, &pass)
      }
    }
  }

  private func log(_ sending: Sending, of batch: Batch) {
    let outcome =
      switch sending {
      case .accepted: "accepted"
      case .nothingToSend: "not in the store any more"
      case .failed(let failure, at: .coverageResult): "\(failure)"
      case .failed(let failure, let step): "not sent, /\(step) failed: \(failure)"
      }
    logger.info("batch \(batch.id), \(batch.fences) fences: \(outcome)")
  }

  private func send(_ batch: inout Batch, _ pass: inout Pass) async throws -> Sending {
    var step = RequestStep.settings
    let reader = StoreReader(store)
    do {
      guard try !reader.fences(of: batch).isEmpty else { return .nothingToSend }
      let clientUUID = try await client()
      step = .coverageRequest
      var test = if let test = batch.test { test } else { try await anchor(&batch) }
      step = .settings
      try await followClock(&pass, for: &batch)
      step = .coverageRequest
      let fences = try reader.fences(of: batch)
      guard !fences.isEmpty else { return .nothingToSend }
      // The offset overflows the server's 32 bits, as after a clock that was set by weeks; use a new anchor.
      if fences.contains(where: { !test.canHold($0, of: batch) }) { test = try await anchor(&batch) }
      let result = server.prepare(
        CoverageResult(
          clientUUID: clientUUID, testUUID: test.uuid, driveStarted: batch.driveStarted,
          anchor: test.anchor.since(batch.driveStarted), fences: fences))
      try Task.checkCancellation()
      try await store.outbox.beginSending(batch: batch.id, fences: fences.count, client: clientUUID, at: clock.wall())
      batch.client = batch.client ?? clientUUID
      step = .coverageResult
      try await request { try await server.submit(result) }
      return .accepted
    } catch let failure as ServerFailure {
      return .failed(failure, at: step)
    }
  }

  /// The server knows no started test for `batch`: its history tells whether the fences arrived; else the batch gets another test.
  /// - Returns: Whether the batch is to be sent again now.
  private func anchorAnew(_ batch: inout Batch, _ pass: inout Pass) async throws -> Bool {
    var step = RequestStep.history
    do {
      if try await isSettledByHistory(batch, &pass) { return false }
      try await store.outbox.release(batch: batch.id)
      step = .coverageRequest
      try await anchor(&batch)
      return true
    } catch let failure as ServerFailure {
      try await setAside([batch], failure, at: step, &pass)
      return false
    }
  }

  /// Gives `batch` another test, anchored now: its fences lie before the anchor.
  @discardableResult
  private func anchor(_ batch: inout Batch) async throws -> Batch.Test {
    let clientUUID = try await client()
    let time = try anchorTime(for: batch)
    let grant = try await request {
      try await server.requestCoverage(CoverageRequest(clientUUID: clientUUID, loopUUID: nil, time: time))
    }
    let test = Batch.Test(uuid: grant.testUUID, anchor: time)
    do {
      try await store.outbox.anchor(batch: batch.id, test: test, loopUUID: grant.loopUUID, client: clientUUID)
    } catch let used as StoreError {
      throw ServerFailure.unusableAnswer("\(used)")
    }
    logger.info("batch \(batch.id): the server made test \(test.uuid) for it")
    (batch.test, batch.client) = (test, clientUUID)
    return test
  }

  /// Now, in whole milliseconds, by the clock that rules; by the server's, where the server contradicts that clock and could not hold the
  /// offsets otherwise. Fences have the same times at the server either way.
  private func anchorTime(for batch: Batch) throws -> WallTime {
    let fences = try StoreReader(store).fences(of: batch)
    let times = [clock.wall(), timekeeper.serverTime].compactMap { $0 }
      .map { WallTime(microseconds: $0.milliseconds.saturatingMultiplied(by: 1000)) }
    let fitting = times.first { time in
      fences.allSatisfy { Batch.Test(uuid: "", anchor: time).canHold($0, of: batch) }
    }
    return fitting ?? times[0]
  }

  func accepted(_ batch: Batch, _ pass: inout Pass) async throws {
    try await store.outbox.markSubmitted(batch: batch.id, at: clock.wall())
    gate.delivered()
    await endCall(.success)
    pass.judge.succeeded()
    pass.queue.removeAll { $0.id == batch.id }
    pass.accepted(batch)
  }

  /// Follows the rule of each class of failures.
  private func failed(
    _ batch: Batch, _ failure: ServerFailure, at step: RequestStep, _ pass: inout Pass
  ) async throws {
    // Registration is no batch's: without it nothing can be sent.
    guard step != .settings else { throw PassEnd.failed(failure) }
    guard step == .coverageResult else { return try await setAside([batch], failure, at: step, &pass) }
    let verdict = Verdict(failure)
    if verdict.isDefiniteNo { try await store.outbox.release(batch: batch.id) }
    switch verdict {
    case .rejected: try await rejected(batch, failure, &pass)
    case .tooManyRequests: try await putOff(batch, failure, &pass)
    case .doubtful:
      if try await isTheBatchItself(batch, failure, &pass) { return }
      try await setAside([batch], failure, at: step, &pass)
    case .trouble, .forbidden, .unknownClient, .noStartedTest, .unreachable:
      try await setAside([batch], failure, at: step, &pass)
    }
  }

  /// Puts batches that met trouble behind the others, in the store too, and ends the pass if the trouble is the server's.
  /// - Parameter batches: At least one; those that one request was about.
  func setAside(
    _ batches: [Batch], _ failure: ServerFailure, at step: RequestStep, _ pass: inout Pass
  ) async throws {
    if Task.isCancelled { throw PassEnd.stopped(failure) }
    switch Verdict(failure) {
    case .unreachable, .tooManyRequests: throw PassEnd.failed(failure)
    default: break
    }
    await endCall(.failed(failure))
    pass.note(failure)
    let finding = batches.first.map { pass.judge.failed($0.id, at: step, failure) }
    for batch in batches {
      try await store.outbox.noteTrouble(batch: batch.id, isAnswer: step == .coverageResult)
      pass.queue.removeAll { $0.id == batch.id }
      pass.kept(batch)
      logger.info("batch \(batch.id) goes behind the others: /\(step) failed")
    }
    switch finding {
    case .server: throw PassEnd.failed(failure)
    case .noTests:
      let rest = pass.queue.count { $0.test == nil }
      logger.warning("the control server makes no tests now; \(rest) more batches without one wait")
    case .batch, nil: break
    }
  }

  /// Half, half, down to one fence; what is refused alone is quarantined.
  private func rejected(_ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass) async throws {
    await endCall(.failed(failure))
    pass.judge.succeeded()
    pass.queue.removeAll { $0.id == batch.id }
    if batch.fences > 1 {
      let parts = try await store.outbox.split(batch: batch)
      logger.info("batch \(batch.id) is split: \(parts.map { "\($0.fences)" }.joined(separator: " and ")) fences")
      pass.queue.insert(contentsOf: parts, at: 0)
    } else {
      try await quarantine(batch, "\(failure)", &pass)
      pass.note(failure)
    }
    if pass.refused() { throw PassEnd.failed(failure) }
  }

  func quarantine(_ batch: Batch, _ reason: String, _ pass: inout Pass) async throws {
    let what = batch.fences == 1 ? "a fence" : "\(batch.fences) fences"
    logger.warning("\(what) of session \(batch.session) quarantined: \(reason)")
    try await store.outbox.quarantine(batch: batch, reason: reason, at: clock.wall())
    pass.queue.removeAll { $0.id == batch.id }
    pass.quarantined(batch)
  }

  /// After 429 the next batch may have its turn, until the breaker opens; a server that says how long to wait ends the pass.
  private func putOff(_ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass) async throws {
    pass.note(failure)
    pass.judge.refused(failure)
    guard gate.breaker.state == .closed, failure == .tooManyRequests(retryAfter: nil) else {
      throw PassEnd.failed(failure)
    }
    pass.queue.removeAll { $0.id == batch.id }
    pass.kept(batch)
    if pass.queue.isEmpty { throw PassEnd.failed(failure) }
    try await clock.sleep(.seconds(1) + .seconds(1) * clock.random())
  }

  /// The server swallows what it cannot store, and answers 200 without a word (docs/protocol.md, 3.1), as a captive
  /// portal does. When it took another batch in this pass, and never took this one, it is the batch.
  private func isTheBatchItself(
    _ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass
  ) async throws -> Bool {
    guard case .notTheServer(200..<300, _) = failure, batch.isSuspect, pass.report.fencesSent > 0 else {
      return false
    }
    do {
      if try await isSettledByHistory(batch, &pass) { return true }
    } catch let failure as ServerFailure {
      try await setAside([batch], failure, at: .history, &pass)
      return true
    }
    try await rejected(batch, failure, &pass)
    return true
  }
}

extension Batch.Test {
  /// Whether a fence's offset fits where the server keeps it: 32 bits, in milliseconds.
  fileprivate func canHold(_ fence: Fence, of batch: Batch) -> Bool {
    Int32(exactly: (fence.entered - anchor.since(batch.driveStarted)).inMilliseconds) != nil
  }
}
