import Coverage
import Logging
import Store

/// Reads the server's histories to find out which batches have arrived after an answer was lost (docs/protocol.md,
/// 3.6).
struct HistoryCheck: PassStep {
  let parts: PassParts
  private var outcomes: BatchOutcomes { BatchOutcomes(parts: parts) }

  /// Reads the history for every batch of the queue that may have arrived, and decides about it. If a history cannot be
  /// read, its batches move behind the others.
  ///
  /// A batch that the server does not have is sent again, to the same test. This is safe while the first request is
  /// still on its way, because a test accepts one result only. Only if the server refuses the test as not started,
  /// the batch gets a new one. If the row of the batch was lost, its test may be unknown: then the batch is sent
  /// only if the store accounts for every test of the history that could be its own.
  func resolveDoubts(_ pass: inout Pass) async throws {
    pass.areDoubtsResolved = true
    let doubtful = pass.queue.filter { $0.state != .waiting }
    guard !doubtful.isEmpty else { return }
    let held = try await readHistories(of: doubtful, pass)
    for unread in held.unread { try await outcomes.setAside(unread.batches, unread.failure, at: .history, &pass) }
    let unread = Set(held.unread.flatMap { $0.batches.map(\.id) })
    for batch in doubtful where !unread.contains(batch.id) {
      let finding = held.finding(forDoubtful: batch, isForced: pass.urgency == .forced)
      if try await resolve(batch, finding, &pass) { continue }
      // The history can lag: a batch in doubt stays so until its next request is answered.
      if batch.state == .sending, !BatchRule.isInDoubt(batch, by: clock) {
        try await store.outbox.release(batch: batch.id)
      }
    }
    try await reopenQuarantined(&pass)
  }

  /// Checks one batch that the server refuses, or whose test it refuses as not started.
  /// - Returns: Whether the batch is decided now.
  /// - Throws: `ServerFailure` when the history cannot be read.
  func isResolved(_ batch: Batch, _ pass: inout Pass) async throws -> Bool {
    let held = try await readHistories(of: [batch], pass)
    if let unread = held.unread.first { throw unread.failure }
    return try await resolve(batch, held.finding(forUnstarted: batch, isForced: pass.urgency == .forced), &pass)
  }

  /// - Returns: Whether no fence of the batch needs to be sent.
  private func resolve(_ batch: Batch, _ finding: ServerFences.Finding, _ pass: inout Pass) async throws -> Bool {
    switch finding {
    case .absent: return false
    case .arrived(let fences):
      logger.info("batch \(batch.id): the server has its \(counted(fences, "fence"))")
      try await outcomes.accepted(batch, &pass)
    case .quarantine(let reason):
      try await outcomes.quarantine(batch, reason: reason, mayHaveArrived: true, &pass)
    case .staysQuarantined(let fences):
      let reason =
        fences.map { "the server has \(counted($0, "fence")) of its test \(batch.testInQuestion ?? "?")" }
        ?? "the server may have it"
      logger.warning(
        """
        batch \(batch.id): not sent again, \(reason); \
        submit --quarantined --force sends all \(batch.fences) again, also those that it has
        """)
      pass.quarantined(batch, mayHaveArrived: true)
    }
    return true
  }

  /// Queues the fences of quarantined batches again, in new batches.
  private func reopenQuarantined(_ pass: inout Pass) async throws {
    let quarantined = pass.queue.filter { $0.state == .quarantined }
    guard !quarantined.isEmpty else { return }
    try await store.outbox.reopen(batches: quarantined, at: clock.wall())
    let sessions = Array(Set(quarantined.map(\.session)))
    try await store.outbox.makeBatches(of: sessions, limit: parts.settings.fencesPerRequest, at: clock.wall())
    let known = Set(pass.queue.map(\.id))
    let reopened = try await store.outbox.batches(of: sessions, in: [.waiting]).filter { !known.contains($0.id) }
    pass.queue = DeliveryOrder.sorted(pass.queue.filter { $0.state != .quarantined } + reopened)
  }

  // MARK: Reading

  /// Reads the histories of all clients that sent these batches.
  private func readHistories(of batches: [Batch], _ pass: Pass) async throws -> ServerFences {
    let current = try await registration.clientUUID(for: pass.exchange)
    var held = ServerFences()
    for (client, batches) in Dictionary(grouping: batches, by: { $0.client ?? current }) {
      let isCurrent = client == current
      // Without a known test, read the whole history.
      let isWhole = !isCurrent || batches.contains(where: \.isLost)
      let cursor = isWhole ? nil : try await store.servers.historyCursor(at: server.url)
      let oldest = batches.compactMap { $0.test?.anchor.milliseconds }.min() ?? 0
      do {
        let reading = try await read(HistoryReading(cursor: cursor, oldest: oldest), of: client, pass)
        held.add(reading)
        if isCurrent { try await store.servers.setHistoryCursor(reading.cursor, at: server.url) }
      } catch let failure as ServerFailure where !isCurrent && Verdict(failure) == .unknownClient {
        held.add(stranger: client)
        logger.warning("the server does not know the client UUID of \(counted(batches.count, "batch", "batches"))")
      } catch let failure as ServerFailure {
        if Task.isCancelled { throw failure }
        held.add(unread: batches, failure)
      }
    }
    if batches.contains(where: \.isLost) { held.knownTests = try await store.outbox.knownTests() }
    for (session, lost) in Dictionary(grouping: batches.filter(\.isLost), by: \.session) {
      held.fencesByTest[session] = try await store.outbox.fencesByTest(of: session)
      held.lostSizes[session] = lost.filter { $0.testInQuestion == nil }.map(\.fences)
    }
    logger.info("read the server's history: it lists \(counted(held.testCount, "test")) of the relevant time")
    return held
  }

  private func read(_ begun: HistoryReading, of client: String, _ pass: Pass) async throws -> HistoryReading {
    var reading = begun
    while let offset = reading.offset {
      reading.append(
        try await server.send(pass.exchange) {
          try await $0.history(clientUUID: client, offset: offset, limit: HistoryReading.pageSize)
        })
    }
    // A test that an incomplete reading lacks may still be on the server.
    if reading.isEndless { throw ServerFailure.unusableAnswer("/history gives pages without end") }
    if reading.isUnreadable { throw ServerFailure.unusableAnswer("no entry of the history names a test") }
    return reading
  }
}
