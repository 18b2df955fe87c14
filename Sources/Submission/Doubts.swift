import ControlServer
import Coverage
import DriveStore
import Logging

/// What became of batches whose answers were lost: the server's history tells (docs/protocol.md, 3.6).
extension Sender {
  /// Asks about everything in the queue that may have arrived, and settles it. When a history cannot be read, the batches that it is
  /// about go behind the others.
  ///
  /// What the server does not have is sent again, to the same test: as a test takes one result only, that is safe even when the first
  /// request is still on its way. Only when the server does not know the test as a started one either, it is anchored anew. Of a batch
  /// whose row was lost the test may not be known: then no test of the history may be its own that nothing else accounts for.
  func settleDoubts(_ pass: inout Pass) async throws {
    pass.areDoubtsSettled = true
    let doubtful = pass.queue.filter { $0.state != .waiting }
    guard !doubtful.isEmpty else { return }
    let held = try await fencesHeld(of: doubtful)
    for unread in held.unread { try await setAside(unread.batches, unread.failure, at: .history, &pass) }
    let unread = Set(held.unread.flatMap { $0.batches.map(\.id) })
    for batch in doubtful where !unread.contains(batch.id) {
      if try await isSettled(batch, held: held, &pass) { continue }
      if batch.isLost, let reason = held.reasonToDoubt(batch) {
        try await quarantine(batch, reason, &pass)
        continue
      }
      if batch.state == .sending { try await store.outbox.release(batch: batch.id) }
    }
    let refused = pass.queue.filter { $0.state == .quarantined }
    guard !refused.isEmpty else { return }
    try await store.outbox.reopen(batches: refused, at: clock.wall())
    try await requeue(refused, &pass)
  }

  /// Lines up what was refused earlier, in batches of its own.
  private func requeue(_ refused: [Batch], _ pass: inout Pass) async throws {
    let sessions = Array(Set(refused.map(\.session)))
    try await store.outbox.makeBatches(of: sessions, limit: settings.fencesPerRequest, at: clock.wall())
    let known = Set(pass.queue.map(\.id))
    let reopened = try await store.outbox.batches(of: sessions, in: [.waiting]).filter { !known.contains($0.id) }
    pass.queue = DeliveryOrder.sorted(pass.queue.filter { $0.state != .quarantined } + reopened)
  }

  /// Asks about one batch, which the server knows no started test for. When it does not know who sent that either, it may be
  /// another server, or have forgotten the sender with its history: a batch that may have left before is not sent to a new test
  /// then, unless somebody says so.
  /// - Returns: Whether it is settled now.
  func isSettledByHistory(_ batch: Batch, _ pass: inout Pass) async throws -> Bool {
    let held = try await fencesHeld(of: [batch])
    if let unread = held.unread.first { throw unread.failure }
    if try await isSettled(batch, held: held, &pass) { return true }
    guard batch.attempt > 0, let client = batch.client, held.strangers.contains(client) else { return false }
    try await quarantine(batch, HeldFences.noHistory, &pass)
    return true
  }

  private func isSettled(_ batch: Batch, held: HeldFences, _ pass: inout Pass) async throws -> Bool {
    guard let test = batch.testInQuestion, let held = held.tests[test.lowercased()]?.fences, held > 0 else {
      return false
    }
    let ours = batch.sentFences ?? batch.fences
    if held == ours {
      logger.info("batch \(batch.id): the server has its \(held) fences")
      try await accepted(batch, &pass)
      return true
    }
    guard batch.state == .quarantined else {
      try await quarantine(batch, "the server has \(held) fences of test \(test), and \(ours) were sent", &pass)
      return true
    }
    // It is here by command; what would come twice takes another word.
    if pass.urgency == .forced { return false }
    logger.warning(
      """
      batch \(batch.id): not sent again, the server has \(held) fences of its test \(test); \
      submit --quarantined --force sends all \(batch.fences) anew
      """)
    pass.queue.removeAll { $0.id == batch.id }
    pass.quarantined(batch)
    return true
  }

  /// How many fences the server holds, by the histories of all who sent these batches.
  private func fencesHeld(of batches: [Batch]) async throws -> HeldFences {
    let current = try await client()
    var held = HeldFences()
    for (client, batches) in Dictionary(grouping: batches, by: { $0.client ?? current }) {
      let isCurrent = client == current
      // Without a known test, read the whole history.
      let isWhole = !isCurrent || batches.contains(where: \.isLost)
      let cursor = isWhole ? nil : try await store.servers.historyCursor(at: server.url)
      let oldest = batches.compactMap { $0.test?.anchor.milliseconds }.min() ?? 0
      do {
        let reading = try await readHistory(of: client, HistoryReading(cursor: cursor, oldest: oldest))
        held.tests.merge(reading.tests) { $0.fences > $1.fences ? $0 : $1 }
        if isCurrent { try await store.servers.setHistoryCursor(reading.cursor, at: server.url) }
      } catch let failure as ServerFailure where !isCurrent && Verdict(failure) == .unknownClient {
        held.strangers.insert(client)
        logger.warning("the server does not know this device by the name that \(batches.count) batches left under")
      } catch let failure as ServerFailure {
        if Task.isCancelled { throw failure }
        held.unread.append((batches, failure))
      }
    }
    if batches.contains(where: \.isLost) { held.knownTests = try await store.outbox.knownTests() }
    logger.info("asked the server's history: it lists \(held.tests.count) tests as far back as that matters")
    return held
  }

  private func readHistory(of client: String, _ begun: HistoryReading) async throws -> HistoryReading {
    var reading = begun
    while let offset = reading.offset {
      reading.take(
        try await request {
          try await server.history(clientUUID: client, offset: offset, limit: HistoryReading.pageSize)
        })
    }
    // What is not in an unfinished reading may be at the server all the same.
    if reading.isEndless { throw ServerFailure.unusableAnswer("/history gives pages without end") }
    return reading
  }
}

/// What the server's histories say.
private struct HeldFences {
  static let noHistory = "it may have left before, and the server has no history of this device from then to tell"

  /// The tests whose fences the server holds, by their UUIDs in lower case.
  var tests: [String: HistoryItem] = [:]
  /// Batches whose history could not be read.
  var unread: [(batches: [Batch], failure: ServerFailure)] = []
  /// Client UUIDs that the server does not know.
  var strangers: Set<String> = []
  /// Tests of which the store knows what they were used for.
  var knownTests: Set<String> = []

  /// Why a batch whose row was lost may be at the server under a test that nobody knows; `nil` when it cannot be.
  func reasonToDoubt(_ batch: Batch) -> String? {
    guard let client = batch.client, !strangers.contains(client) else { return Self.noHistory }
    // What else was in it may be damaged meanwhile, but nothing came to it.
    let suspect = tests.first { uuid, test in
      test.fences >= batch.fences && !knownTests.contains(uuid) && (test.time ?? .max) >= batch.earliestTest
    }
    return suspect.map { uuid, test in
      "it may have left before: the server has \(test.fences) fences of test \(uuid), which nothing else in the store accounts for"
    }
  }
}

extension Batch {
  /// When the first of the tests was made that it can have gone to, in milliseconds: one of a drive lasts for hours, and is made before
  /// its fences.
  fileprivate var earliestTest: Int64 { earliest.earlier(by: .seconds(86_400)).milliseconds }
}
