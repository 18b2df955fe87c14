import ControlServer
import Coverage
import DriveStore
import Logging

/// What became of batches whose answers were lost: the server's history tells (spec 4.6).
extension Sender {
  /// Asks about everything in the queue that may have arrived, and settles it.
  ///
  /// What the server does not have is sent again, to the same test: as a test takes one result only, that is safe even when the first
  /// request is still on its way. Only when the server does not know the test as a started one either, it is anchored anew.
  func settleDoubts(_ pass: inout Pass) async throws {
    let doubtful = pass.queue.filter { $0.state != .waiting }
    guard !doubtful.isEmpty else { return }
    let held = try await fencesHeld(of: pass.queue)
    for batch in pass.queue {
      if try await isSettled(batch, held: held, &pass) { continue }
      if batch.state == .sending { try await store.release(batch: batch.id) }
    }
    let refused = pass.queue.filter { $0.state == .quarantined }
    guard !refused.isEmpty else { return }
    try await store.reopen(batches: refused, at: clock.wall())
    try await requeue(refused, &pass)
  }

  /// Lines up what was refused earlier, in batches of its own.
  private func requeue(_ refused: [Batch], _ pass: inout Pass) async throws {
    let sessions = Array(Set(refused.map(\.session)))
    try await store.makeBatches(of: sessions, limit: settings.fencesPerRequest, at: clock.wall())
    let known = Set(pass.queue.map(\.id))
    let reopened = try await store.batches(of: sessions, in: [.waiting]).filter { !known.contains($0.id) }
    pass.queue = DeliveryOrder.sorted(pass.queue.filter { $0.state != .quarantined } + reopened)
  }

  /// Asks about one batch.
  /// - Returns: Whether it is settled now.
  func isSettledByHistory(_ batch: Batch, _ pass: inout Pass) async throws -> Bool {
    try await isSettled(batch, held: try await fencesHeld(of: [batch]), &pass)
  }

  private func isSettled(_ batch: Batch, held: [String: Int], _ pass: inout Pass) async throws -> Bool {
    guard let test = batch.test?.uuid, let held = held[test.lowercased()], held > 0 else { return false }
    let ours = batch.sentFences ?? batch.fences
    if held == ours {
      logger.info("batch \(batch.id): the server has its \(held) fences")
      try await accepted(batch, &pass)
      return true
    }
    // What was refused before is here by command.
    if batch.state == .quarantined { return false }
    try await quarantine(batch, "the server has \(held) fences of test \(test), and \(ours) were sent", &pass)
    return true
  }

  /// How many fences the server holds, by test.
  private func fencesHeld(of batches: [Batch]) async throws -> [String: Int] {
    let clientUUID = try await request { try await registration.clientUUID() }
    let oldest = batches.compactMap { $0.test?.anchor.milliseconds }.min() ?? 0
    var reading = HistoryReading(cursor: try await store.historyCursor(at: server.url), oldest: oldest)
    while let offset = reading.offset {
      reading.take(
        try await request {
          try await server.history(clientUUID: clientUUID, offset: offset, limit: HistoryReading.pageSize)
        })
    }
    try await store.setHistoryCursor(reading.cursor, at: server.url)
    logger.info("asked the server's history: it lists \(reading.fences.count) tests as far back as that matters")
    return reading.fences
  }
}
