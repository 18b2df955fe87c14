import Coverage
import DriveStore
import Foundation
import Logging

/// The data budget of a test outside of a loop: the ledger of the stored loop, read before the test and written after it.
public struct DataBudget: Sendable {
  private let store: DriveStore
  private let limits: DataLimits
  private let host: LoopHost
  private let logger: Logger

  /// A budget of the tests of this store.
  public init(_ store: DriveStore, limits: DataLimits, host: LoopHost, logger: Logger) {
    (self.store, self.limits, self.host, self.logger) = (store, limits, host, logger)
  }

  /// Why no test may start now, in a line; `nil` when one may.
  /// - Throws: GRDB's `DatabaseError`
  public func refusal() async throws -> String? {
    let ledger = try await LoopRunner.stored(in: store, logger)?.ledger ?? DataLedger()
    let wall = host.moment().wall
    guard let hold = ledger.hold(by: limits, at: wall) else { return nil }
    let isMonth = hold == .monthLimit
    let used = isMonth ? ledger.usedInMonth(at: wall) : ledger.usedInDay(at: wall)
    let (limit, period) = isMonth ? (limits.month, "month") : (limits.day, "day")
    return
      "tests used \(used) of \(limit ?? 0) bytes for this \(period) (speedtest.data-limit.\(period)): no test starts before "
      + "the next \(period) (UTC), or without --ignore-limit"
  }

  /// Adds the bytes of a test.
  /// - Throws: GRDB's `DatabaseError`, `EncodingError`
  public func charge(_ bytes: Int64) async throws {
    let moment = host.moment()
    var memory =
      try await LoopRunner.stored(in: store, logger) ?? LoopMemory(withoutLoopAt: moment, bootID: host.bootID)
    memory.ledger.beginTest()
    memory.ledger.add(bytes, at: moment.wall)
    memory.ledger.endTest()
    try await store.loop.persist(String(decoding: try JSONEncoder().encode(memory), as: UTF8.self))
  }
}
