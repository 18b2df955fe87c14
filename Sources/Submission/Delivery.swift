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
      guard let batch = pass.queue.first else { return }
      try await deliver(batch, &pass)
    }
  }

  /// Sends the first batch of the queue and takes it out of there, unless the pass ends with it.
  private func deliver(_ queued: Batch, _ pass: inout Pass) async throws {
    var batch = queued
    var isRegisteredAnew = false
    var isAnchoredAnew = false
    while true {
      let (failure, last) = try await send(&batch)
      let verdict = Verdict(failure)
      let wasSent = last == .coverageResult
      let outcome = failure.map { "\($0)" } ?? (wasSent ? "accepted" : "it is not in the store any more")
      logger.info(
        "batch \(batch.id), \(batch.fences) fences: \(wasSent ? outcome : "not sent, /\(last) failed: \(outcome)")")
      if let failure, Task.isCancelled { throw PassEnd.stopped(failure) }
      switch verdict {
      case .accepted where !wasSent: return pass.queue.removeAll { $0.id == batch.id }
      case .accepted: return try await accepted(batch, &pass)
      case .unknownClient where !isRegisteredAnew:
        isRegisteredAnew = true
        if wasSent { try await store.release(batch: batch.id) }
        await registration.doubt()
      case .noStartedTest where wasSent && !isAnchoredAnew:
        if try await isSettledByHistory(batch, &pass) { return }
        isAnchoredAnew = true
        try await store.release(batch: batch.id)
        try await anchor(&batch)
      default:
        guard let failure else { return }
        guard wasSent else { throw PassEnd.failed(failure) }
        return try await answered(batch, verdict, failure, &pass)
      }
    }
  }

  /// The requests that sending a batch takes, by their paths.
  private enum Step: String { case settings, coverageRequest, coverageResult }

  /// - Returns: The failure, `nil` for a success, and the request that it came of: another one than the last when there is nothing to
  ///   send any more, as its session was forgotten meanwhile.
  private func send(_ batch: inout Batch) async throws -> (ServerFailure?, last: Step) {
    var step = Step.settings
    let reader = StoreReader(store)
    do {
      guard try !reader.fences(of: batch).isEmpty else { return (nil, step) }
      let clientUUID = try await request { try await registration.clientUUID() }
      step = .coverageRequest
      var test = if let test = batch.test { test } else { try await anchor(&batch) }
      let fences = try reader.fences(of: batch)
      guard !fences.isEmpty else { return (nil, step) }
      // As after a clock that was set by weeks: no server can hold that.
      if fences.contains(where: { !test.canHold($0, of: batch) }) { test = try await anchor(&batch) }
      let result = server.prepare(
        CoverageResult(
          clientUUID: clientUUID, testUUID: test.uuid, driveStarted: batch.driveStarted,
          anchor: test.anchor.since(batch.driveStarted), fences: fences))
      try Task.checkCancellation()
      try await store.beginSending(
        batch: batch.id, fences: fences.count, checksum: result.checksum, client: clientUUID, at: clock.wall())
      batch.client = batch.client ?? clientUUID
      step = .coverageResult
      try await request { try await server.submit(result) }
      return (nil, step)
    } catch let failure as ServerFailure {
      return (failure, step)
    }
  }

  /// Gives `batch` another test, anchored now: its fences lie before the anchor.
  @discardableResult
  private func anchor(_ batch: inout Batch) async throws -> Batch.Test {
    let clientUUID = try await request { try await registration.clientUUID() }
    let time = WallTime(microseconds: clock.wall().milliseconds * 1000)
    let grant = try await request {
      try await server.requestCoverage(CoverageRequest(clientUUID: clientUUID, loopUUID: nil, time: time))
    }
    let test = Batch.Test(uuid: grant.testUUID, anchor: time)
    do {
      try await store.anchor(batch: batch.id, test: test, loopUUID: grant.loopUUID, client: clientUUID)
    } catch let used as StoreError {
      throw ServerFailure.unusableAnswer("\(used)")
    }
    logger.info("batch \(batch.id): the server made test \(test.uuid) for it")
    (batch.test, batch.client) = (test, clientUUID)
    return test
  }

  func accepted(_ batch: Batch, _ pass: inout Pass) async throws {
    try await store.markSubmitted(batch: batch.id, at: clock.wall())
    try await endCall(.success)
    backoff.succeeded()
    pass.queue.removeAll { $0.id == batch.id }
    pass.accepted(batch)
  }

  /// Follows the rule of each class of answers but success.
  private func answered(
    _ batch: Batch, _ verdict: Verdict, _ failure: ServerFailure, _ pass: inout Pass
  ) async throws {
    if verdict.isDefiniteNo { try await store.release(batch: batch.id) }
    switch verdict {
    case .rejected: try await rejected(batch, failure, &pass)
    case .tooManyRequests: try await putOff(batch, failure, &pass)
    case .doubtful:
      if try await isTheBatchItself(batch, failure, &pass) { return }
      try await store.noteTrouble(batch: batch.id)
      throw PassEnd.failed(failure)
    case .trouble, .forbidden, .unknownClient, .noStartedTest:
      // It may be the batch: then it goes behind the others.
      try await store.noteTrouble(batch: batch.id)
      throw PassEnd.failed(failure)
    case .accepted, .unreachable: throw PassEnd.failed(failure)
    }
  }

  /// Half, half, down to one fence; what is refused alone is quarantined.
  private func rejected(_ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass) async throws {
    try await endCall(.failure)
    pass.queue.removeAll { $0.id == batch.id }
    if batch.fences > 1 {
      let parts = try await store.split(batch: batch)
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
    try await store.quarantine(batch: batch, reason: reason, at: clock.wall())
    pass.queue.removeAll { $0.id == batch.id }
    pass.quarantined(batch)
  }

  /// After 429 the next batch may have its turn, until the breaker opens; a server that says how long to wait ends the pass.
  private func putOff(_ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass) async throws {
    pass.note(failure)
    guard isBreakerClosed, failure == .tooManyRequests(retryAfter: nil) else { throw PassEnd.failed(failure) }
    pass.queue.removeAll { $0.id == batch.id }
    pass.kept(batch)
    if pass.queue.isEmpty { throw PassEnd.failed(failure) }
    try await clock.sleep(.seconds(1) + .seconds(1) * clock.random())
  }

  /// The server swallows what it cannot store, and answers 200 without a word (spec 4.0), as a captive portal does. When it took
  /// another batch in this pass, and never took this one, it is the batch.
  private func isTheBatchItself(
    _ batch: Batch, _ failure: ServerFailure, _ pass: inout Pass
  ) async throws -> Bool {
    guard case .notTheServer(200..<300, _) = failure, batch.isTroublesome, pass.report.fencesSent > 0 else {
      return false
    }
    if try await isSettledByHistory(batch, &pass) { return true }
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
