import Coverage
import Logging
import Store

/// Requests tests for batches that have none, or whose test is too far away for their offsets.
struct TestAnchor: PassStep {
  let parts: PassParts

  /// Gives `batch` a new test, anchored now, or at its last fence if that is weeks ago.
  @discardableResult
  func anchor(_ batch: inout Batch, _ pass: Pass) async throws -> Batch.Test {
    let clientUUID = try await registration.clientUUID(for: pass.exchange)
    let time = try await anchorTime(for: batch)
    let request = CoverageRequest(clientUUID: clientUUID, loopUUID: nil, time: time)
    let grant = try await server.send(pass.exchange) { try await $0.requestCoverage(request, by: .kept) }
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

  /// Whether the offset of each fence fits the server's 32 bits, in milliseconds.
  static func canHold(_ fences: [Fence], of batch: Batch, anchor: WallTime) -> Bool {
    let anchor = anchor.since(batch.driveStarted)
    return fences.allSatisfy { Int32(exactly: ($0.entered - anchor).inMilliseconds) != nil }
  }

  /// Now, in whole milliseconds, by the selected clock. If the offsets would overflow, now by the server's clock, or the time of the last
  /// fence, which is too old for both. The fences have the same times on the server each way.
  private func anchorTime(for batch: Batch) async throws -> WallTime {
    let fences = try await store.reading { try $0.fences(of: batch) }
    let (now, last) = (clock.wall(), fences.map(\.entered).max().map { batch.driveStarted + $0 })
    let times = [now, timekeeper.serverTime, last.flatMap { $0 < now ? $0 : nil }].compactMap { $0 }
      .map { WallTime(microseconds: $0.milliseconds.saturatingMultiplied(by: 1000)) }
    return times.first { Self.canHold(fences, of: batch, anchor: $0) } ?? times[0]
  }
}
