import Coverage
import Foundation
import Logging
import Store

/// Stores the result for a batch, and passes it to the gate and the pass.
struct BatchOutcomes: PassStep {
  let parts: PassParts

  private static let disk = DiskExecutor("drive logs")

  func accepted(_ batch: Batch, _ pass: inout Pass) async throws {
    if let accepted = try await store.outbox.markSubmitted(batch: batch.id, at: clock.wall()) {
      await note(accepted.fences, in: accepted.log)
    }
    await server.delivered()
    await server.end(pass.exchange, .success)
    pass.accepted(batch)
  }

  /// Writes into the drive's log what the server has: with the log, damage of the store cannot make a fence leave twice.
  private func note(_ fences: AcceptedFences, in log: String) async {
    guard FileManager.default.fileExists(atPath: log) else { return }
    do {
      try await Self.disk.execute { try DriveLogWriter.note(fences, in: log) }
    } catch {
      logger.warning("that the server has \(counted(fences.fences.count, "fence")) stands in the store alone: \(error)")
    }
  }

  /// The server refuses `batch`, or may have it already: it stays stored, and is sent on command only.
  /// - Parameter mayHaveArrived: Whether the server may have it: then only a forced command sends it.
  func quarantine(_ batch: Batch, reason: String, mayHaveArrived: Bool, _ pass: inout Pass) async throws {
    try await store.outbox.quarantine(batch: batch, reason: reason, mayHaveArrived: mayHaveArrived, at: clock.wall())
    logger.warning(
      "\(counted(batch.fences, "fence")) of session \(batch.session) quarantined: \(reason)",
      metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.fencesQuarantined)])
    pass.quarantined(batch, mayHaveArrived: mayHaveArrived)
  }

  /// Moves batches that met trouble behind the others, in the store too.
  /// - Parameter batches: The batches of the failed request, at least one.
  /// - Throws: ``PassEnd`` when the trouble is the server's; GRDB's `DatabaseError`
  func setAside(
    _ batches: [Batch], _ failure: ServerFailure, at step: RequestStep, _ pass: inout Pass
  ) async throws {
    if Task.isCancelled { throw PassEnd.stopped(failure) }
    if Verdict(failure).bindsEveryBatch { throw PassEnd.failed(failure) }
    await server.end(pass.exchange, .failed(failure))
    pass.note(failure)
    let finding = batches.first.map { pass.rule.failed($0.id, at: step, failure) }
    for batch in batches {
      try await store.outbox.noteTrouble(batch: batch.id, isAnswer: step == .coverageResult)
      pass.setAside(batch)
      logger.info("batch \(batch.id) moves behind the others: /\(step) failed")
    }
    switch finding {
    case .server: throw PassEnd.failed(failure)
    case .noTests:
      let rest = pass.queue.count { $0.test == nil }
      logger.warning(
        "the control server makes no tests now; \(counted(rest, "more batch waits", "more batches wait")) for one")
    case .batch, nil: break
    }
  }

  /// The server refuses `batch`, and an earlier request of it may have arrived: leaves it for the history of a later pass.
  func wait(_ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass) async {
    await server.end(pass.exchange, .failed(failure))
    pass.note(failure)
    pass.setAside(batch)
    logger.info("batch \(batch.id) waits for a later history: an earlier request may have arrived")
  }

  /// The server refuses the content of `batch`: splits it in two, down to one fence, which is quarantined.
  /// - Throws: ``PassEnd`` when the pass has met enough refusals; GRDB's `DatabaseError`
  func refuse(_ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass) async throws {
    await server.end(pass.exchange, .failed(failure))
    let isEnough = pass.refused(batch)
    if batch.fences > 1 {
      let parts = try await store.outbox.split(batch: batch)
      logger.info("batch \(batch.id) is split: \(parts.map { "\($0.fences)" }.joined(separator: " and ")) fences")
      pass.queue.insert(contentsOf: parts, at: 0)
    } else {
      try await quarantine(batch, reason: "\(failure)", mayHaveArrived: false, &pass)
      pass.note(failure)
    }
    if isEnough { throw PassEnd.failed(failure) }
  }

  /// 429: continues with the next batch after a random wait of 1 to 2 s, until the breaker opens. A `Retry-After` ends the pass.
  /// - Throws: ``PassEnd``, `CancellationError`
  func putOff(_ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass) async throws {
    pass.note(failure)
    pass.rule.refused(failure)
    guard await server.isBreakerClosed, failure == .tooManyRequests(retryAfter: nil) else {
      throw PassEnd.failed(failure)
    }
    pass.setAside(batch)
    if pass.queue.isEmpty { throw PassEnd.failed(failure) }
    try await clock.sleep(.seconds(1) + .seconds(1) * clock.random())
  }
}
