import Coverage
import Logging
import Store

/// Sends the batches of a pass, one after the other.
struct Delivery: PassStep {
  let parts: PassParts
  private var dating: DriveDating { DriveDating(parts: parts) }
  private var anchor: TestAnchor { TestAnchor(parts: parts) }
  private var history: HistoryCheck { HistoryCheck(parts: parts) }
  private var outcomes: BatchOutcomes { BatchOutcomes(parts: parts) }

  /// Sends every batch that may be sent now.
  func deliverAll(_ pass: inout Pass) async throws {
    while true {
      try Task.checkCancellation()
      try await dating.follow(&pass)
      try await dating.askForTime(&pass)
      guard let batch = pass.next else { return }
      try await deliver(batch, &pass)
    }
  }

  private enum Sending {
    case accepted
    /// Its session was forgotten meanwhile, or it has other fences than those that were read: another pass sends them.
    case nothingToSend
    case failed(ServerFailure, at: RequestStep)
  }

  /// Sends a batch and removes it from the queue, unless the failure ends the pass.
  private func deliver(_ queued: Batch, _ pass: inout Pass) async throws {
    var batch = queued
    var rule = BatchRule()
    while true {
      let sending = try await send(&batch, &pass)
      log(sending, of: batch)
      switch sending {
      case .accepted:
        await server.acceptsFences()
        return try await outcomes.accepted(batch, &pass)
      case .nothingToSend: return pass.remove(batch)
      case .failed(let failure, let step):
        let isInDoubt = BatchRule.isInDoubt(queued, after: failure, by: clock)
        if BatchRule.hasNotArrived(after: failure, at: step, isInDoubt: isInDoubt) {
          try await takeBack(batch)
        } else if step == .coverageResult, BatchRule.isEmptyAgain(failure, of: queued, by: clock) {
          try await noteEmptyAnswer(to: batch)
        }
        if Task.isCancelled { throw PassEnd.stopped(failure) }
        let isAccepting = await server.hasJustAcceptedFences
        let isSuspect = batch.isSuspect && (pass.report.tally.fencesSent > 0 || isAccepting)
        let consequence = rule.consequence(of: failure, at: step, isSuspect: isSuspect, isInDoubt: isInDoubt)
        guard try await follow(consequence, of: failure, at: step, &batch, &pass) else { return }
      }
    }
  }

  /// Applies the consequence of a failed request.
  /// - Returns: Whether to send the batch again now.
  private func follow(
    _ consequence: BatchRule.Consequence, of failure: ServerFailure, at step: RequestStep, _ batch: inout Batch,
    _ pass: inout Pass
  ) async throws -> Bool {
    switch consequence {
    case .registerAgain:
      await registration.doubt()
      return true
    case .replaceTest: return try await replaceTest(&batch, failure, &pass)
    case .endPass: throw PassEnd.failed(failure)
    case .setAside: try await outcomes.setAside([batch], failure, at: step, &pass)
    case .wait: await outcomes.wait(batch, failure, &pass)
    case .refuse: try await refuse(batch, failure, &pass)
    case .putOff: try await outcomes.putOff(batch, failure, &pass)
    }
    return false
  }

  private func log(_ sending: Sending, of batch: Batch) {
    let outcome =
      switch sending {
      case .accepted: "accepted"
      case .nothingToSend: "no longer in the store as it was"
      case .failed(let failure, at: .coverageResult): "\(failure)"
      case .failed(let failure, let step): "not sent, /\(step) failed: \(failure)"
      }
    logger.info("batch \(batch.id), \(counted(batch.fences, "fence")): \(outcome)")
  }

  private func send(_ batch: inout Batch, _ pass: inout Pass) async throws -> Sending {
    var step = RequestStep.settings
    do {
      guard try await !fences(of: batch).isEmpty else { return .nothingToSend }
      let clientUUID = try await registration.clientUUID(for: pass.exchange)
      step = .coverageRequest
      var test = if let test = batch.test { test } else { try await anchor.anchor(&batch, pass) }
      step = .settings
      try await dating.follow(&pass, for: &batch)
      step = .coverageRequest
      let fences = try await fences(of: batch)
      guard !fences.isEmpty else { return .nothingToSend }
      batch = batch.counted(fences.count)
      // After the clock was set by weeks, the offset can overflow the server's 32 bits: use a new anchor.
      if !TestAnchor.canHold(fences, of: batch, anchor: test.anchor), !BatchRule.isInDoubt(batch, by: clock) {
        test = try await anchor.anchor(&batch, pass)
      }
      let session = try await store.reading { [batch] in try $0.session(of: batch) }
      let result = server.device.prepare(
        CoverageResult(
          clientUUID: clientUUID, testUUID: test.uuid, driveStarted: batch.driveStarted,
          anchor: test.anchor.since(batch.driveStarted), fences: fences, retries: batch.attempt,
          terminationCause: session.stopReason.flatMap { Self.causes[$0] }, localAddress: session.localAddress))
      try Task.checkCancellation()
      try await store.outbox.beginSending(
        batch: batch.id, fences: fences.count, client: clientUUID,
        doubt: try Doubt.text(until: clock.boot() + Doubt.lasts, by: clock), at: clock.wall())
      batch.client = batch.client ?? clientUUID
      // A recovery can have put fences into the batch since they were read; once it is marked as sending, none does.
      guard try await self.fences(of: batch).count == fences.count else {
        try await takeBack(batch)
        return .nothingToSend
      }
      step = .coverageResult
      try await submit(result, of: batch, pass)
      return .accepted
    } catch let failure as ServerFailure {
      return .failed(failure, at: step)
    }
  }

  /// Why a test ended, by the reason for which its drive ended: in the reference app's words where it has that reason.
  private static let causes = [
    StopReason.user.rawValue: "ended by user",
    StopReason.duration.rawValue: "ended by measurement loop time expired",
    StopReason.insufficientAccuracy.rawValue: "ended by insufficient accuracy",
    "interrupted": "ended by interruption of the program",
  ]

  private func fences(of batch: Batch) async throws -> [Fence] { try await store.reading { try $0.fences(of: batch) } }

  /// - Throws: ``ServerGate/Hold`` and `CancellationError` when nothing has left: then the batch waits as before, and the history need not
  ///   be asked.
  private func submit(_ result: PreparedResult, of batch: Batch, _ pass: Pass) async throws {
    do {
      try await server.send(pass.exchange) { try await $0.submit(result) }
    } catch let wait where wait is ServerGate.Hold || wait is CancellationError {
      try await takeBack(batch)
      throw wait
    }
  }

  /// Restores the state of the batch before its last request, which the server has certainly not stored.
  private func takeBack(_ batch: Batch) async throws {
    guard let end = Doubt.end(of: batch, by: clock), let sent = batch.sent else {
      return try await store.outbox.release(batch: batch.id)
    }
    let doubt = try Doubt.text(until: end, isOfEmptyAnswers: Doubt.isOver(of: batch, by: clock), by: clock)
    try await store.outbox.keepInDoubt(batch: batch.id, since: sent, doubt: doubt)
  }

  /// The batch can have arrived all the same: for an hour, a refusal sends its fences to no other test. Another empty answer can.
  private func noteEmptyAnswer(to batch: Batch) async throws {
    let doubt = try Doubt.text(until: clock.boot() + Doubt.lasts, isOfEmptyAnswers: true, by: clock)
    try await store.outbox.keepInDoubt(batch: batch.id, since: clock.wall(), doubt: doubt)
  }

  /// The server has no started test for `batch`: reads the history, and requests another test if the fences have not
  /// arrived. While an earlier request may be under way, the batch waits for a later history.
  /// - Returns: Whether to send the batch again now.
  private func replaceTest(_ batch: inout Batch, _ refusal: ServerFailure, _ pass: inout Pass) async throws -> Bool {
    var step = RequestStep.history
    do {
      if try await history.isResolved(batch, &pass) { return false }
      guard !BatchRule.isInDoubt(batch, by: clock) else {
        await outcomes.wait(batch, refusal, &pass)
        return false
      }
      try await store.outbox.release(batch: batch.id)
      step = .coverageRequest
      try await anchor.anchor(&batch, pass)
      return true
    } catch let failure as ServerFailure {
      try await outcomes.setAside([batch], failure, at: step, &pass)
      return false
    }
  }

  /// The answer to `batch` says that it is not stored: reads the history, and treats the batch as refused if the fences have not arrived.
  private func refuse(_ batch: Batch, _ refusal: ServerFailure, _ pass: inout Pass) async throws {
    do {
      if try await history.isResolved(batch, &pass) { return }
    } catch let failure as ServerFailure {
      // A server whose history never comes must not hold up the good fences of a batch that it refuses. An empty answer alone is no proof:
      // something between here and a server that stored it can have emptied it.
      guard batch.isSuspect, Verdict(failure) != .unreachable, !BatchRule.isSwallowed(refusal) else {
        return try await outcomes.setAside([batch], failure, at: .coverageResult, &pass)
      }
    }
    try await outcomes.refuse(batch, refusal, &pass)
  }
}

extension Batch {
  /// The server has failed it so often that the batch itself may be the cause.
  fileprivate var isSuspect: Bool { troubles >= 2 }
}
