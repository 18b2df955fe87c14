import Coverage
import Logging
import Store

/// The data budget of a test outside of a loop: the usage of the stored loop, read before the test and written after it.
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
    let usage = try await LoopRunner.stored(in: store, logger)?.usage ?? DataUsage()
    let wall = host.moment().wall
    guard let hold = usage.hold(by: limits, at: wall) else { return nil }
    let isMonth = hold == .monthLimit
    let used = isMonth ? usage.usedInMonth(at: wall) : usage.usedInDay(at: wall)
    let (limit, period) = isMonth ? (limits.month, "month") : (limits.day, "day")
    return
      "tests used \(used) of \(limit ?? 0) bytes for this \(period) (speedtest.data-limit.\(period)): no test starts before "
      + "the next \(period) (UTC), or without --ignore-limit"
  }

  /// Charges a test that is about to begin as if it were interrupted, so that a process that dies during the test leaves the charge.
  /// - Returns: The state to pass to ``end(_:bytes:)``.
  /// - Throws: GRDB's `DatabaseError`, `EncodingError`
  public func begin() async throws -> LoopMemory {
    let moment = host.moment()
    let before =
      try await LoopRunner.stored(in: store, logger) ?? LoopMemory(withoutLoopAt: moment, bootID: host.bootID)
    var charged = before
    charged.usage.beginTest()
    charged.usage.chargeInterruptedTest(at: moment.wall)
    try await store.loop.persist(try charged.stored)
    return before
  }

  /// Charges the bytes of a test that has ended, in place of those of ``begin()``.
  /// - Throws: GRDB's `DatabaseError`, `EncodingError`
  public func end(_ before: LoopMemory, bytes: Int64) async throws {
    var memory = before
    memory.usage.beginTest()
    memory.usage.add(bytes, at: host.moment().wall)
    memory.usage.endTest()
    try await store.loop.persist(try memory.stored)
  }
}
