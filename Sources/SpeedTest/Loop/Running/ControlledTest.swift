import Coverage
import Foundation
import Logging
import Networking
import Store
import Submission
import Synchronization

/// One speed test with the control server: asks for it, measures, and leaves the result in the store, from where the next pass sends it.
public final class ControlledTest: Sendable {
  /// The parts that all tests of a process share.
  public struct Environment: Sendable {
    let store: DriveStore
    let sender: Sender
    let timekeeper: Timekeeper
    let conditions: TestConditions
    let path: PathMonitor?
    let observer: (any TestObserver)?
    let logger: Logger

    /// Joins parts that share the same store, control server and clocks.
    /// - Parameter path: Reads the route of the tests; its readings go to `conditions`. `nil`: no test knows its link.
    public init(
      store: DriveStore, sender: Sender, timekeeper: Timekeeper, conditions: TestConditions,
      path: PathMonitor? = nil, observer: (any TestObserver)? = nil, logger: Logger
    ) {
      (self.store, self.sender, self.timekeeper) = (store, sender, timekeeper)
      (self.conditions, self.path, self.observer, self.logger) = (conditions, path, observer, logger)
    }
  }

  private enum Stage {
    case asking(Task<TestRequester.Granted, any Error>)
    case waiting(Task<Void, any Error>)
    case measuring(SpeedTestRun)
    case examining(QoSRun)
    case none
  }

  private let environment: Environment
  private let options: TestOptions
  private let loop: SpeedTestRequest.Loop?
  private struct State {
    var stage = Stage.none
    var reasonToAbort: String?
    var measured: SpeedTestRun?
    var examined: QoSRun?
  }

  private let state = Mutex(State())

  /// A test; call ``run(onGrant:progress:)`` once.
  /// - Parameter loop: Its place in a loop; `nil` for a single test.
  public init(_ environment: Environment, options: TestOptions, loop: SpeedTestRequest.Loop?) {
    (self.environment, self.options, self.loop) = (environment, options, loop)
  }

  /// The bytes of the test until now, those of its QoS tests included.
  public var traffic: SpeedTestTraffic {
    let (measurement, examination) = state.withLock { ($0.measured?.traffic, $0.examined?.traffic) }
    return (measurement ?? SpeedTestTraffic()).adding(examination ?? SpeedTestTraffic())
  }

  /// Ends the test soon; it is stored as aborted.
  public func abort(_ reason: String) {
    state.withLock { state in
      state.reasonToAbort = state.reasonToAbort ?? reason
      switch state.stage {
      case .asking(let task): task.cancel()
      case .waiting(let task): task.cancel()
      case .measuring(let run): run.abort()
      case .examining(let run): run.abort()
      case .none: break
      }
    }
  }

  /// - Returns: `false` when the test was aborted before.
  private func enter(_ next: Stage) -> Bool {
    state.withLock { state in
      state.stage = next
      if case .measuring(let run) = next { state.measured = run }
      if case .examining(let run) = next { state.examined = run }
      return state.reasonToAbort == nil
    }
  }

  private var abortReason: String? { state.withLock { $0.reasonToAbort } }

  /// Runs the test. Its end is durable on return, unless the disk refuses it (``Submission/Sender/hold(_:_:as:)``).
  /// - Parameters:
  ///   - onGrant: Called when the control server has made the test, with its answer.
  ///   - progress: Called by the test's threads, up to ten times a second by each.
  /// - Throws: GRDB's `DatabaseError` when the store fails.
  public func run(
    onGrant: @escaping @Sendable (TestRequester.Granted) -> Void = { _ in },
    progress: @escaping @Sendable (SpeedTestProgress) -> Void = { _ in }
  ) async throws -> TestEnd {
    let granted: TestRequester.Granted
    do {
      granted = try await ask()
    } catch let unusable as TestRequester.Unusable {
      return try await close(unusable)
    } catch {
      return TestEnd(
        outcome: abortReason == nil ? .failed : .aborted, traffic: traffic, error: abortReason ?? "\(error)")
    }
    onGrant(granted)
    follow(granted.grant.server.host)
    let start = start(granted)
    let row = try await begin(start)
    let name = row.map { "speed test \($0)" } ?? "speed test"
    environment.logger.info("\(name): the server made test \(granted.grant.testUUID)")
    let measured = await measure(granted, progress)
    let outcome: StoredSpeedTest.Outcome =
      measured.abortReason != nil ? .aborted : measured.figures?.isComplete == true ? .completed : .failed
    var stored = SpeedTestOutbox.End(
      outcome, at: environment.timekeeper.now, figures: measured.figures,
      error: outcome == .completed ? nil : measured.abortReason ?? measured.failures.first ?? "a figure is missing")
    // Of a server's name, only the default route was known at the start.
    stored.isCellular = measured.figures?.links?.isCellular ?? !environment.conditions.isOnOtherLink
    stored.technology = measured.technology
    let isStored = try await persist(start, stored, row)
    // The result is on the disk before the QoS tests, which take minutes.
    if outcome == .completed, options.runsQoS, isStored, let row, let results = await qosResults(granted) {
      do {
        try await environment.store.speedTests.add(qos: results, to: row)
      } catch {
        environment.logger.error("\(name): its QoS results are lost, they cannot be stored: \(StoreError.line(error))")
      }
    }
    await environment.sender.nudge()
    environment.logger.info(
      "\(name): \(stored.error ?? "measured")",
      metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.speedTestEnded)])
    return TestEnd(
      outcome: outcome, row: row, testUUID: granted.grant.testUUID, figures: measured.figures, traffic: traffic,
      error: stored.error, failures: measured.failures, wasSuspended: measured.wasSuspended)
  }

  /// Stores a test that cannot run as failed, so that the next pass closes it at the server.
  private func close(_ unusable: TestRequester.Unusable) async throws -> TestEnd {
    var start = SpeedTestOutbox.Start(
      controlServer: unusable.url, clientUUID: unusable.clientUUID, testUUID: unusable.testUUID, token: "",
      started: environment.timekeeper.now)
    (start.loopUUID, start.number) = (loop?.uuid, loop?.number)
    let row = try await begin(start)
    _ = try await persist(start, .init(.failed, at: start.started, figures: nil, error: "\(unusable)"), row)
    await environment.sender.nudge()
    return TestEnd(
      outcome: .failed, row: row, testUUID: unusable.testUUID, traffic: traffic, error: "\(unusable)")
  }

  /// - Returns: The id; `nil` when the disk refuses it: the test is made all the same, and sent from memory.
  private func begin(_ start: SpeedTestOutbox.Start) async throws -> Int64? {
    do {
      return try await environment.store.speedTests.begin(start)
    } catch let error as StoreError {
      throw error
    } catch {
      environment.logger.error("the speed test cannot be stored: \(StoreError.line(error))")
      return nil
    }
  }

  /// Stores the end; on a full disk, sent data goes first. What the disk refuses is sent from memory.
  /// - Returns: Whether it is stored.
  private func persist(
    _ start: SpeedTestOutbox.Start, _ end: SpeedTestOutbox.End, _ row: Int64?
  ) async throws -> Bool {
    let tests = environment.store.speedTests
    if let row {
      do {
        do {
          try await tests.end(row, end)
        } catch let error where StoreError.isDiskFull(error) {
          await environment.sender.makeRoom()
          try await tests.end(row, end)
        }
        return true
      } catch {
        environment.logger.error("speed test \(row) cannot be stored: \(StoreError.line(error))")
      }
    }
    try await environment.sender.hold(start, end, as: row)
    return false
  }

  // MARK: The request

  private func ask() async throws -> TestRequester.Granted {
    let (time, place) = (environment.timekeeper.now, environment.conditions.place(at: .now))
    let located = place.flatMap { SpeedTestPlace($0.fix, at: time.adding(.zero - $0.age), offset: 0) }
    let asking = Task { [environment, options, loop] in
      try await environment.sender.tests.requestSpeedTest(
        by: options.access.interface, family: options.access.family
      ) { client in
        var request = SpeedTestRequest(clientUUID: client, time: time)
        (request.loop, request.place, request.family) = (loop, located, options.access.family)
        return request
      }
    }
    guard enter(.asking(asking)) else {
      asking.cancel()
      throw CancellationError()
    }
    return try await asking.value
  }

  /// The route to the measurement server decides about the link.
  private func follow(_ host: String) {
    guard let path = environment.path else { return }
    path.follow(host)
    environment.conditions.note(path.reading(to: host))
  }

  private func start(_ granted: TestRequester.Granted) -> SpeedTestOutbox.Start {
    var start = SpeedTestOutbox.Start(
      controlServer: granted.url, clientUUID: granted.clientUUID, testUUID: granted.grant.testUUID,
      token: granted.grant.token, started: environment.timekeeper.now)
    (start.loopUUID, start.number) = (loop == nil ? nil : granted.grant.loopUUID ?? loop?.uuid, loop?.number)
    start.drive = environment.conditions.runningDrive
    start.place = environment.conditions.place(at: .now)?.fix.coordinate
    start.technology = environment.conditions.isOnOtherLink ? nil : environment.conditions.radio?.technology
    return start
  }

  // MARK: The measurement

  private static let stallReason = "the process stood still during the test"

  private struct Measured {
    var figures: SpeedTestFigures?
    var technology: Technology?
    var failures: [String] = []
    /// Why the measurement was aborted: an abort after its end changes nothing.
    var abortReason: String?
    var wasSuspended = false
  }

  private func measure(
    _ granted: TestRequester.Granted, _ progress: @escaping @Sendable (SpeedTestProgress) -> Void
  ) async -> Measured {
    var measured = Measured(technology: environment.conditions.radio?.technology)
    let waiting = Task { try await Task.sleep(for: granted.grant.wait) }
    guard enter(.waiting(waiting)), await (try? waiting.value) != nil else {
      measured.abortReason = abortReason ?? "aborted"
      return measured
    }
    do {
      let plan = try plan(granted.grant)
      let run = SpeedTestRun(plan)
      guard enter(.measuring(run)) else {
        measured.abortReason = abortReason
        return measured
      }
      environment.conditions.beginTrack()
      let began = ContinuousClock.now
      let stall = StallWatch { [self] in abort(Self.stallReason) }
      let loads = LoadReport(environment.observer)
      let result: Result<SpeedTestOutcome, any Error>
      environment.observer?.testBegan()
      do {
        result = .success(
          try await run.run { [path = environment.path] step in
            if step.sample == nil { loads.enter(step.phase) }
            if step.phase == .downloadPreTest, let address = run.serverAddress { path?.follow(address) }
            progress(step)
          })
      } catch {
        result = .failure(error)
      }
      measured.wasSuspended = stall.end()
      measured.abortReason = abortReason ?? (measured.wasSuspended ? Self.stallReason : nil)
      environment.observer?.testEnded()
      let delays = loads.measured(await environment.observer?.delays() ?? [])
      if let path = environment.path, let address = run.serverAddress {
        // The monitor may not have read the route to a name's address yet.
        environment.conditions.note(path.reading(to: address))
      }
      let track = environment.conditions.endTrack()
      // A failed or aborted test has its bytes, its link and its places all the same.
      let outcome = (try? result.get()) ?? run.partialOutcome
      measured.figures = figures(outcome, plan, granted.grant, began: began, track)
      measured.technology = track.radio?.technology
      measured.figures?.delays = delays
      measured.failures = try result.get().failures.map { "\($0)" }
    } catch {
      measured.failures = ["\(error)"]
    }
    return measured
  }

  // MARK: QoS

  /// The results of the control server's QoS tests as a JSON array; `nil` without any.
  private func qosResults(_ granted: TestRequester.Granted) async -> String? {
    do {
      var request = SpeedTestRequest(clientUUID: granted.clientUUID, time: environment.timekeeper.now)
      request.loop = loop
      let objectives = try QoSObjectives(try await environment.sender.tests.qosTests(request))
      guard !objectives.all.isEmpty else { return nil }
      var plan = QoSPlan(objectives: objectives, token: try MeasurementToken(granted.grant.token))
      (plan.encryption, plan.access) = (options.qosEncryption, access(granted.grant))
      let run = QoSRun(plan)
      guard enter(.examining(run)) else {
        environment.logger.warning("no QoS tests: \(abortReason ?? "aborted")")
        return nil
      }
      let stall = StallWatch { [self] in abort(Self.stallReason) }
      // Only while they load the link: not during the request for them, nor while the results are stored.
      environment.observer?.testBegan()
      let outcome = await run.run()
      environment.observer?.testEnded()
      if let reason = stall.end() ? Self.stallReason : abortReason {
        environment.logger.warning("no QoS results: \(reason)")
        return nil
      }
      let others = outcome.results.filter { $0.status != .ok }.map { ", \($0.kind.rawValue) \($0.status.rawValue)" }
      environment.logger.info(
        "\(counted(outcome.results.count, "QoS test")) made with \(outcome.traffic.total) bytes\(others.joined())")
      for trouble in Set(outcome.results.compactMap(\.trouble)).sorted() {
        environment.logger.warning("QoS tests: \(trouble)")
      }
      return outcome.members.first { $0.key == "qos_result" }?.value.text
    } catch {
      environment.logger.warning("no QoS tests: \(error)")
      return nil
    }
  }

  private func plan(_ grant: SpeedTestGrant) throws -> SpeedTestPlan {
    var plan = SpeedTestPlan(host: grant.server.host, port: grant.server.port, token: try MeasurementToken(grant.token))
    plan.opening = grant.kind == .http ? .http : .native
    (plan.isEncrypted, plan.access) = (grant.isEncrypted, access(grant))
    (plan.threads, plan.seconds, plan.pings) = (grant.threads, grant.seconds, grant.pings)
    return plan
  }

  private func access(_ grant: SpeedTestGrant) -> TestAccess {
    var access = options.access
    access.family = Self.family(access.family, grant)
    return access
  }

  /// The token is good for the address of the request: the connections use its version of the internet protocol (docs/protocol.md, edge 8).
  private static func family(_ wanted: IPVersion?, _ grant: SpeedTestGrant) -> IPVersion? {
    if let wanted { return wanted }
    // A literal has its own.
    if grant.server.host.contains(":") || grant.server.host.allSatisfy({ $0.isNumber || $0 == "." }) { return nil }
    guard let remote = grant.remoteAddress else { return nil }
    return remote.contains(":") && !remote.lowercased().hasPrefix("::ffff:") ? .ipv6 : .ipv4
  }

  private func figures(
    _ outcome: SpeedTestOutcome, _ plan: SpeedTestPlan, _ grant: SpeedTestGrant, began: ContinuousClock.Instant,
    _ track: TestConditions.Track
  ) -> SpeedTestFigures {
    var figures = outcome.figures(plan)
    figures.serverName = grant.name
    figures.links = track.links.isEmpty ? nil : track.links
    let (now, wall) = (ContinuousClock.now, environment.timekeeper.now)
    figures.places = track.places.compactMap {
      SpeedTestPlace($0.fix, at: wall.adding($0.at - now), offset: ($0.at - began).inNanoseconds)
    }
    // The modem has not carried a test on another link.
    guard track.links.isCellular else { return figures }
    let radio = track.radio
    figures.operatorCode = radio?.modem?.operatorCode
    figures.operatorName = radio?.modem?.operatorName
    figures.simOperatorCode = radio?.modem?.simOperatorCode
    figures.simOperatorName = radio?.modem?.simOperatorName
    figures.isRoaming = radio?.modem?.registration.map { $0 == .roaming }
    figures.cell = radio?.modem?.cell
    figures.environment = radio?.modem.flatMap(RadioEnvironment.init)
    figures.signal = FenceRadio.quantities(of: radio?.technology).lazy.compactMap { radio?.modem?.signal[$0] }.first
    return figures
  }
}
