import Coverage
import DriveStore
import Logging
import Submission

/// Sends what waits while the service runs: one pass after the other, beside the drives.
final class ResendPasses: Sendable {
  typealias Result = (line: String, outcome: CommandOutcome)

  private struct Order: Sendable {
    let selection: Selection
    var answer: CheckedContinuation<Result, Never>?
  }

  private let environment: LiveDrive.Environment
  private let orders: AsyncStream<Order>
  private let queue: AsyncStream<Order>.Continuation

  init(_ environment: LiveDrive.Environment) {
    self.environment = environment
    (orders, queue) = AsyncStream.makeStream()
  }

  /// A pass as soon as those before have ended.
  func request(_ selection: Selection) { queue.yield(Order(selection: selection)) }

  /// The same, and waits until it has ended.
  func run(_ selection: Selection) async -> Result {
    await withCheckedContinuation { continuation in
      let order = Order(selection: selection, answer: continuation)
      if case .terminated = queue.yield(order) { continuation.resume(returning: Self.stopping) }
    }
  }

  private static let stopping: Result = ("the service is stopping", .kept)

  /// Until the task is cancelled, which ends a pass at once; what was not sent stays.
  /// - Parameter onEnd: Takes a line about each pass.
  func work(_ onEnd: @Sendable (String) -> Void) async {
    for await order in orders {
      let result = await pass(order.selection)
      onEnd(result.line)
      order.answer?.resume(returning: result)
    }
    queue.finish()
    // Those that were asked for meanwhile.
    for await order in orders { order.answer?.resume(returning: Self.stopping) }
  }

  private func pass(_ selection: Selection) async -> Result {
    let now = WallTime.current
    guard now >= .earliestTrusted else { return ("the clock is not set: nothing is sent", .kept) }
    do {
      try await environment.store.settleClocks(now: now, logger: environment.logger)
      let sender = Sender(
        store: environment.store, server: environment.server, registration: environment.registration,
        logger: environment.logger
      ) { .current }
      let report = try await sender.send(selection)
      return (report.line, report.outcome)
    } catch {
      environment.logger.error("a resend pass failed: \(error)")
      return ("failed: \(error)", .failed)
    }
  }
}
