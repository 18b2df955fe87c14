import Coverage
import Logging
import Store

/// Dates drives by the selected clock, before and during a pass.
struct DriveDating: PassStep {
  let parts: PassParts

  /// Corrects the times of drives that were recorded with a wrong clock.
  /// - Returns: Whether times were corrected.
  @discardableResult
  func correctTimes(_ pass: inout Pass) async throws -> Bool {
    await timekeeper.publish()
    let reading = timekeeper.read()
    let isSure =
      reading.selection.isConfirmed || pass.doubts.hasAskedForTime && reading.selection.contradicting.isEmpty
    let settled = try await store.clockSettlement.settle(
      bootID: clock.bootID, sinceBoot: reading.boot, now: reading.wall, isSure: isSure)
    pass.doubts.hasNewDates = !settled.doubted.isEmpty
    for drive in settled.corrected {
      logger.notice(
        "drive \(drive) was recorded with a wrong clock; its times are corrected (\(reading.selection))")
    }
    for drive in settled.lost {
      logger.warning("drive \(drive) was recorded with a clock that was never set: it is quarantined")
    }
    return !settled.corrected.isEmpty
  }

  /// Corrects times during a pass: the clock may have been set while the pass waited for its share of the spread, or
  /// for an unresponsive server.
  /// - Throws: ``PassEnd`` when the clock shows an impossible time; GRDB's `DatabaseError`
  func follow(_ pass: inout Pass) async throws {
    guard clock.wall() >= .earliestTrusted else { throw PassEnd.held(.clock) }
    guard try await correctTimes(&pass) else { return }
    let sessions = Array(Set(pass.queue.map(\.session)))
    pass.refresh(with: try await store.outbox.batches(of: sessions, in: [.waiting, .sending, .quarantined]))
  }

  /// The same for a batch that is about to leave: a response of the server can have shown that a wrong clock dated
  /// its fences.
  func follow(_ pass: inout Pass, for batch: inout Batch) async throws {
    try await follow(&pass)
    try await askForTime(&pass)
    guard let current = pass.queue.first(where: { $0.id == batch.id }), current.driveStarted != batch.driveStarted
    else { return }
    batch = current
  }

  /// If drives would be dated again by a clock that no other clock confirms: asks the server for the time, and dates
  /// them by the answer. A server that sends no `Date` contradicts nothing.
  func askForTime(_ pass: inout Pass) async throws {
    guard pass.doubts.hasNewDates, !pass.doubts.hasAskedForTime else { return }
    if !timekeeper.isServerKnown {
      logger.notice("\(pass.mode) pass: the clock was set since drives were recorded; asking the server for the time")
      await registration.doubt()
      _ = try await registration.clientUUID(for: pass.exchange)
    }
    pass.doubts.hasAskedForTime = true
    try await follow(&pass)
  }
}
