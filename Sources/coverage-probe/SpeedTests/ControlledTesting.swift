import Coverage
import Driving
import Foundation
import Logging
import Service
import Settings
import SpeedTest
import Store
import Submission
import Synchronization

/// `speedtest` without a server of one's own: one test that the control server makes, stores and publishes.
struct ControlledTesting: Sendable {
  let configuration: ProbeConfiguration
  /// Whether to print one JSON object instead of the summary.
  let asJSON: Bool
  /// Whether to send the result when the test has ended.
  let submits: Bool
  /// Whether to test even if a data limit is used up.
  let ignoresLimit: Bool
  let logger: Logger

  /// How long the test waits for a position and the modem's state. The result has them if they come; the test runs without them
  /// too.
  private static let patience = Duration.seconds(3)

  /// Runs the test, and sends the waiting data.
  /// - Parameter stop: The test is aborted at its first element, and the sending at its second.
  /// - Throws: ``ConfigurationError``, `StoreError`, GRDB's `DatabaseError`, ``CommandFailure``.
  func run(
    stop: AsyncStream<Void>, show: (@Sendable (String) -> Void)?, print: @Sendable (String) -> Void,
    note: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    let environment = try DriveEnvironment(
      configuration: configuration, purpose: "\(Program.name) speedtest",
      server: try .configured(configuration, for: "without it there is no test; --server names a measurement server"),
      logger: logger)
    await environment.recover(configuration)
    let budget = DataBudget(
      environment.store, limits: try configuration.dataLimits, host: .host(environment), logger: logger)
    if !ignoresLimit, let refusal = try await budget.refusal() { throw CommandFailure(refusal) }
    return try await test(in: environment, budget, stop, show: show, print: print, note: note)
  }

  /// Runs one test with its sources, and charges its bytes. After an error, the charge of ``DataBudget/begin()`` stays: the bytes
  /// are unknown then.
  private func test(
    in environment: DriveEnvironment, _ budget: DataBudget, _ stop: AsyncStream<Void>,
    show: (@Sendable (String) -> Void)?, print: @Sendable (String) -> Void, note: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    let setup = TestSetup(configuration, environment)
    let receiving = Task { await environment.positions.run() }
    let following = Task { await setup.follow() }
    defer {
      receiving.cancel()
      following.cancel()
    }
    let test = ControlledTest(setup.tests, options: setup.options, loop: nil)
    let (givingUp, giveUp) = AsyncStream<Void>.makeStream()
    let stopping = Task {
      var isFirst = true
      for await _ in stop {
        if isFirst { test.abort("stopped") } else { giveUp.yield() }
        isFirst = false
      }
    }
    defer { stopping.cancel() }
    await setup.conditions.waitUntilKnown(atMost: Self.patience)
    let display = Mutex(SpeedTestDisplay())
    // The number of connections, which the control server decides.
    let planned = Mutex(0)
    let before = try await budget.begin()
    let end = try await test.run { granted in
      planned.withLock { $0 = granted.grant.threads }
    } progress: { progress in
      display.withLock {
        let isNew = $0.apply(progress)
        if let show { show($0.line) } else if isNew { note("speedtest: \($0.line)") }
      }
    }
    if let show { show("") }
    do {
      try await budget.end(before, bytes: end.traffic.total)
    } catch {
      logger.error("the test's bytes do not count for speedtest.data-limit: \(StoreError.line(error))")
    }
    guard let testUUID = end.testUUID else { throw CommandFailure(end.error ?? "no test") }
    let (state, qos) = submits ? await submit(testUUID, environment, givingUp) : (nil, nil)
    let isSubmitted = submits ? state == .submitted : nil
    let isLost = await environment.sender.hasSubmittedFromMemory(test: testUUID) == false
    let report = SpeedTestReport(
      figures: end.figures ?? SpeedTestFigures(server: "", port: 0, kind: ""), threads: planned.withLock { $0 },
      failures: end.error.map { ["\(end.outcome.rawValue): \($0)"] } ?? end.failures.map { "a connection: \($0)" },
      controlled: .init(
        id: isLost ? nil : end.row, testUUID: testUUID, isSubmitted: isSubmitted, isRefused: state == .quarantined))
    if asJSON { print(report.json.text) } else { report.lines.forEach(print) }
    guard end.outcome == .completed, !isLost else { return .failed }
    return isSubmitted == false || qos.map { $0 != .submitted } == true ? .kept : .done
  }

  /// - Returns: The states of the test and of its QoS results after a pass; `nil` when the test is neither stored nor sent, or has no such results.
  private func submit(
    _ test: String, _ environment: DriveEnvironment, _ stop: AsyncStream<Void>
  ) async -> (StoredSpeedTest.State?, qos: StoredSpeedTest.State?) {
    do {
      let report = try await untilStopped(by: stop) { try await environment.sender.pass(.warm) }
      logger.info("\(report.line)")
      let stored = try await environment.store.reading { try $0.speedTests().first { $0.testUUID == test } }
      if let stored, stored.state == .submitted || stored.state == .quarantined {
        return (stored.state, stored.qosState)
      }
    } catch {
      logger.error("the pass ended early: \(StoreError.line(error))")
    }
    return (await environment.sender.hasSubmittedFromMemory(test: test) == true ? .submitted : nil, nil)
  }
}
