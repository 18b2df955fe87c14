import Coverage
import Driving
import Foundation
import Logging
import Service
import Settings
import SpeedTest
import Submission

/// `loop`: repeats speed tests along the way, without coverage pings.
struct LoopTesting: Sendable {
  let configuration: ProbeConfiguration
  let rules: LoopRules
  /// Whether to begin a new loop, even if the stored one is not over.
  let isNew: Bool
  /// Whether to send results as they come.
  let submits: Bool
  let logger: Logger

  /// Runs until the loop is over, or `stop` yields: then the loop is over too.
  /// - Throws: ``ConfigurationError``, `StoreError`, GRDB's `DatabaseError`.
  func run(
    stop: AsyncStream<Void>, show: (@Sendable (String) -> Void)?, print: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    let environment = try DriveEnvironment(
      configuration: configuration, purpose: "\(Program.name) loop",
      server: try .configured(configuration, for: "without it there are no tests"), logger: logger)
    await environment.recover(configuration)
    return try await loop(in: environment, stop, show: show, print: print)
  }

  /// Runs the loop with its sources. The sender works beside it; a last pass sends the rest, until `stop` yields again.
  private func loop(
    in environment: DriveEnvironment, _ stop: AsyncStream<Void>, show: (@Sendable (String) -> Void)?,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    let (givingUp, giveUp) = AsyncStream<Void>.makeStream()
    let running = try await RunningLoop(
      rules, configuration, environment, isNew: isNew
    ) { LoopDisplay.report($0, of: rules.count, show: show, print: print) }
    let receiving = Task { await environment.positions.run() }
    let sending = submits ? Task { await environment.sender.keepSending() } : nil
    let stopping = Task {
      for await _ in stop {
        let isFirst = running.stop()
        if !isFirst { giveUp.yield() }
      }
    }
    defer {
      receiving.cancel()
      stopping.cancel()
    }
    _ = await running.run()
    // From now on, the first signal ends the last pass.
    _ = running.stop()
    sending?.cancel()
    show?("")
    let tally = await running.memory.tally
    print(
      "\(counted(tally.total, "test")): \(tally.completed) completed, \(tally.failed) failed, \(tally.aborted) aborted")
    let done: CommandOutcome = tally.completed > 0 ? .done : tally.total == 0 ? .unmeasured : .failed
    if tally.total == 0, !rules.allowsOtherLinks, let remedy = running.setup.path.current.remedy {
      print("no test was made: \(remedy)")
    }
    guard submits else { return done }
    let last = try await untilStopped(by: givingUp) { try await environment.sender.pass(.warm) }
    let report = PassReport(fencesExpired: await sending?.value ?? 0) + last
    print(report.line)
    return report.outcome == .done ? done : report.outcome
  }
}
