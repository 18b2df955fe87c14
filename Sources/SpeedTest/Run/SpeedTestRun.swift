import Coverage
import Foundation
import Synchronization

/// Runs a speed test: a thread for each connection, on plain sockets (docs/speedtest.md says why).
public final class SpeedTestRun: Sendable {
  private let plan: SpeedTestPlan
  private let isAborted = Mutex(false)
  private let counter = TrafficCounter()
  private let record = RunRecord()

  /// A run of `plan`; call ``run(progress:)`` once.
  public init(_ plan: SpeedTestPlan) { self.plan = plan }

  /// The bytes of the test until now.
  public var traffic: SpeedTestTraffic { counter.traffic }

  /// The server's numeric address; `nil` before the server has accepted a connection.
  public var serverAddress: String? { record.result.serverAddress }

  /// The outcome of a run that threw: its bytes, server and pings. It has no rates, which would be those of a part of the test.
  var partialOutcome: SpeedTestOutcome {
    var outcome = record.result
    outcome.traffic = counter.traffic
    (outcome.downloadCurves, outcome.uploadCurves) = ([], [])
    // The abort itself breaks connections.
    (outcome.brokenDownloads, outcome.brokenUploads) = ([], [])
    return outcome
  }

  /// Ends the test; connections are closed without QUIT. It takes about 0.1 s, but longer while the server's name is being
  /// resolved, which cannot be interrupted.
  public func abort() { isAborted.withLock { $0 = true } }

  /// Runs the test.
  /// - Parameter progress: Called by the test's threads, up to ten times a second by each.
  /// - Returns: The figures. A phase that failed on all connections has none; `failures` says why.
  /// - Throws: ``SpeedTestError`` when no connection could begin, or after ``abort()``.
  public func run(progress: @escaping @Sendable (SpeedTestProgress) -> Void = { _ in }) async throws -> SpeedTestOutcome
  {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { [self] in continuation.resume(with: Result { try runBlocking(progress) }) }
      }
    } onCancel: {
      abort()
    }
  }

  /// Runs the test on the calling thread, and waits for its threads. They end by themselves: each of their waits ends with the
  /// whole test's deadline (``TimeLimits``).
  private func runBlocking(_ progress: @escaping @Sendable (SpeedTestProgress) -> Void) throws -> SpeedTestOutcome {
    let clock = TestClock.monotonic { [self] in isAborted.withLock { $0 } }
    // Before the look-up of the name: places and links of the test count from here too, and so does the age of its token.
    let start = clock.now()
    let addresses = try Addresses.ofServer(
      plan.host, port: plan.port, family: plan.access.family, interface: plan.access.interface)
    let tls =
      plan.isEncrypted ? try TLSContext(verifies: plan.access.verifiesCertificate, caFile: plan.access.caFile) : nil
    let connector = Connector(
      plan: plan, addresses: addresses, tls: tls, counter: counter,
      waiting: Waiting(clock: clock, deadline: clock.now() + TimeLimits(duration: plan.duration).whole))
    let barrier = Barrier(members: plan.connections, now: clock.now)
    let group = DispatchGroup()
    for index in 0..<plan.connections {
      group.enter()
      Thread.detachNewThread { [record] in
        let worker = Worker(
          index, connector: connector, barrier: barrier, record: record, start: start, progress: progress)
        worker.run()
        group.leave()
      }
    }
    group.wait()
    var outcome = record.result
    outcome.traffic = counter.traffic
    if clock.isAborted() { throw SpeedTestError.aborted }
    // No connection came as far as its first command: there is nothing to report but the failure.
    if outcome.serverVersion.isEmpty, let failure = outcome.failures.first { throw failure }
    outcome.noteSilence()
    return outcome
  }
}
