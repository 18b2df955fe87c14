import Coverage
import Logging
import Store

/// Sends the speed tests of a pass, one after the other: results, and messages that a test has none.
struct SpeedTestDelivery: PassStep {
  let parts: PassParts

  /// Sends every speed test that may be sent now. If a request ends the pass, its test stays in the pass's list and counts as kept.
  /// - Throws: ``PassEnd``, ``ServerGate/Hold``, `CancellationError`, GRDB's `DatabaseError`
  func deliverAll(_ pass: inout Pass) async throws {
    while let test = pass.speedTests.first {
      try Task.checkCancellation()
      for part in test.unsentParts {
        if part == .qos, test.qosState == .quarantined, pass.urgency != .forced {
          logger.warning(
            "speed test \(test.id) (QoS): not sent again, the server may have it; submit --quarantined --force sends it"
          )
          pass.report.speedTests.quarantine(.qos)
          break
        }
        guard try await deliver(test, part, &pass) else { break }
      }
      pass.speedTests.removeAll { $0.id == test.id }
    }
  }

  /// - Returns: Whether the server has this part now.
  private func deliver(_ test: StoredSpeedTest, _ part: SpeedTestOutbox.Part, _ pass: inout Pass) async throws -> Bool {
    let mayHaveArrived = test.mayHaveArrived(part)
    if part == .qos, mayHaveArrived {
      // The server may count a second report of the same tests.
      try await quarantine(test, part, "its answer was lost, and a second report could count twice", &pass)
      return false
    }
    guard let request = prepare(test, part) else {
      try await quarantine(test, part, "its figures are in a form that this program does not know", &pass)
      return false
    }
    // Before the mark: a registration, needed after a change of the server, can wait at the gate.
    try await confirmRegistration(pass)
    // A wait that is cancelled here leaves no mark that the server may have the test.
    try await server.admit(pass.exchange)
    try await store.speedTests.beginSending(test.id, part, at: clock.wall())
    do {
      try await server.send(pass.exchange) { try await $0.submit(request) }
    } catch let wait where wait is ServerGate.Hold || wait is CancellationError {
      // Nothing has left.
      if !mayHaveArrived { try await store.speedTests.release(test.id, part) }
      throw wait
    } catch let failure as ServerFailure {
      return try await follow(failure, test, part, mayHaveArrived: mayHaveArrived, &pass)
    }
    try await accept(test, part, "accepted", &pass)
    return true
  }

  private func confirmRegistration(_ pass: Pass) async throws {
    do {
      _ = try await registration.clientUUID(for: pass.exchange)
    } catch let failure as ServerFailure {
      throw PassEnd.failed(failure)
    }
  }

  private func prepare(_ test: StoredSpeedTest, _ part: SpeedTestOutbox.Part) -> PreparedResult? {
    switch (part, test.outcome) {
    case (.qos, _):
      test.qos.map { results in
        server.device.prepare(
          QoSSubmission(clientUUID: test.clientUUID, token: test.token, submitted: clock.wall(), results: results))
      }
    case (.result, .completed):
      test.figures.map { figures in
        var result = SpeedTestResult(
          clientUUID: test.clientUUID, testUUID: test.testUUID, token: test.token,
          submitted: clock.wall(), retries: test.attempt, technology: test.technology, figures: figures)
        result.hasQoS = test.qos != nil
        return server.device.prepare(result)
      }
    case (.result, let outcome):
      server.device.prepareClosing(clientUUID: test.clientUUID, testUUID: test.testUUID, isFailed: outcome == .failed)
    }
  }

  private func accept(
    _ test: StoredSpeedTest, _ part: SpeedTestOutbox.Part, _ how: String, _ pass: inout Pass
  ) async throws {
    logger.info("speed test \(test.id)\(part.words): \(how)")
    try await store.speedTests.markSubmitted(test.id, part, at: clock.wall())
    await server.delivered()
    await server.end(pass.exchange, .success)
    pass.rule.succeeded()
    if part == .result {
      pass.report.speedTests.withResult.insert(test.testUUID)
    } else if test.state == .submitted {
      pass.report.speedTests.qosSent += 1
    }
  }

  private func quarantine(
    _ test: StoredSpeedTest, _ part: SpeedTestOutbox.Part, _ reason: String, _ pass: inout Pass
  ) async throws {
    try await store.speedTests.quarantine(test.id, part, reason: reason, at: clock.wall())
    logger.warning(
      "speed test \(test.id)\(part.words) quarantined: \(reason)",
      metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.speedTestQuarantined)])
    pass.report.speedTests.quarantine(part)
  }

  /// - Returns: Whether the server has this part.
  private func follow(
    _ failure: ServerFailure, _ test: StoredSpeedTest, _ part: SpeedTestOutbox.Part, mayHaveArrived: Bool,
    _ pass: inout Pass
  ) async throws -> Bool {
    if !mayHaveArrived, Verdict(failure).isDefiniteNo { try await store.speedTests.release(test.id, part) }
    if Task.isCancelled { throw PassEnd.stopped(failure) }
    switch SpeedTestRule.consequence(of: failure, mayHaveArrived: mayHaveArrived) {
    case .submitted:
      try await accept(test, part, "the server has it: \(failure)", &pass)
      return true
    case .quarantine:
      await server.end(pass.exchange, .failed(failure))
      // A refusal is an answer, so it is no trouble of the server.
      pass.rule.succeeded()
      pass.note(failure)
      try await quarantine(test, part, "\(failure)", &pass)
    case .setAside: try await setAside(test, part, failure, &pass)
    case .putOff:
      pass.note(failure)
      pass.rule.refused(failure)
      guard await server.isBreakerClosed, failure == .tooManyRequests(retryAfter: nil) else {
        throw PassEnd.failed(failure)
      }
      pass.report.speedTests.keep(part)
      try await clock.sleep(.seconds(1) + .seconds(1) * clock.random())
    }
    return false
  }

  private func setAside(
    _ test: StoredSpeedTest, _ part: SpeedTestOutbox.Part, _ failure: ServerFailure, _ pass: inout Pass
  ) async throws {
    if Verdict(failure).bindsEveryBatch { throw PassEnd.failed(failure) }
    await server.end(pass.exchange, .failed(failure))
    pass.note(failure)
    try await store.speedTests.noteTrouble(test.id)
    logger.info("speed test \(test.id) moves behind the others: \(failure)")
    // Negative: ids of batches are positive, and the rule compares both.
    if pass.rule.failed(-test.id, at: .result, failure) == .server { throw PassEnd.failed(failure) }
    pass.report.speedTests.keep(part)
  }
}

extension StoredSpeedTest {
  fileprivate func mayHaveArrived(_ part: SpeedTestOutbox.Part) -> Bool {
    (part == .result ? state : qosState) == .sending
  }

  /// The reports that the server does not have, in order.
  fileprivate var unsentParts: [SpeedTestOutbox.Part] {
    (state == .submitted ? [] : [.result]) + (qosState == nil || qosState == .submitted ? [] : [.qos])
  }
}

extension SpeedTestOutbox.Part {
  fileprivate var words: String { self == .qos ? " (QoS)" : "" }
}
