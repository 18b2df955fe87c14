import Coverage
import Foundation
import Networking
import OrderedJSON
import Pinging
import Synchronization

/// Runs QoS tests: groups one after the other, the tests of a group side by side, each on a thread of its own.
///
/// Each test has a time limit. A test that hangs beyond it, such as in the system's resolver, gets TIMEOUT; its thread keeps
/// running, and its late result is dropped.
final class QoSRun: Sendable {
  private let plan: QoSPlan
  /// The address that connections to QoS servers come from; `nil`: the kernel's choice.
  private let source: Addresses.Address?
  private let test: @Sendable (QoSObjective) -> any QoSTest
  private let isAborted = Mutex(false)
  private let counter = TrafficCounter()

  /// ns for the control connection of a test's server, which is opened before the test's own time begins.
  private static let connecting: Int64 = 15_000_000_000
  /// ns that a test has for its end beyond its limit. 1 s before it is over, all waits of the test throw, so that a test that
  /// does not hang reports by itself.
  private static let grace: Int64 = 3_000_000_000

  /// A run of `plan`; call ``run()`` once.
  init(
    _ plan: QoSPlan, source: Addresses.Address? = nil,
    test: @escaping @Sendable (QoSObjective) -> any QoSTest = { QoSTestList.test($0) }
  ) { (self.plan, self.source, self.test) = (plan, source, test) }

  /// The bytes of the tests until now: those of TCP connections without TLS's own, and datagrams with the headers of IP and UDP.
  var traffic: SpeedTestTraffic { counter.traffic }

  /// Ends the run within about 0.1 s. Tests without a result have ERROR, and their threads end with their next wait.
  func abort() { isAborted.withLock { $0 = true } }

  /// - Returns: A result for each test, whatever happened to it.
  func run() async -> QoSOutcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { [self] in continuation.resume(returning: runBlocking()) }
      }
    } onCancel: {
      abort()
    }
  }

  /// Runs all groups on the calling thread, one after the other.
  private func runBlocking() -> QoSOutcome {
    let clock = TestClock.monotonic { [self] in isAborted.withLock { $0 } }
    let start = clock.now()
    let whole = Waiting(clock: clock, deadline: start + plan.limit)
    let connections = QTPConnections(plan, source: source, counter: counter)
    let groups = plan.objectives.groups.map { $0.map { ($0, test($0)) } }
    let objectives = groups.joined().map(\.0)
    let collector = QoSCollector()
    // A connection serves all groups: the longest test of any group may be the time between two commands.
    let idle = groups.joined().map(\.1.limit).max() ?? 0
    for group in groups { run(group, connections, collector, idle: idle, start, whole) }
    connections.close()
    return QoSOutcome(token: plan.token, results: collector.results(of: objectives), traffic: counter.traffic)
  }

  /// A test with the objective that it came from.
  private typealias Entry = (objective: QoSObjective, test: any QoSTest)

  /// Runs a group, and returns when each of its tests has a result: its own, or ERROR or TIMEOUT in its place.
  /// - Parameter idle: ns that may pass between two commands on a connection.
  private func run(
    _ group: [Entry], _ connections: QTPConnections, _ collector: QoSCollector, idle: Int64, _ start: Int64,
    _ whole: Waiting
  ) {
    let began = whole.clock.now()
    // Nothing begins any more once the time is over or the run is aborted.
    if began < whole.deadline, !whole.clock.isAborted() {
      for entry in group {
        Thread.detachNewThread { [self] in
          run(entry, connections, idle: idle, start: start, whole) { collector.add($0) }
        }
      }
    }
    while true {
      // Before looking at the results, so that none comes between.
      let next = collector.next
      let now = whole.clock.now()
      let isAborted = whole.clock.isAborted()
      let missing = group.filter { !collector.has($0.objective.uid) }
      if missing.isEmpty { return }
      for entry in missing {
        let end = began + entry.test.limit + (entry.objective.kind.needsServer ? Self.connecting : 0) + Self.grace
        guard isAborted || now >= min(end, whole.deadline) else { continue }
        let (status, members) = entry.test.failed(isAborted ? .error : .timeout)
        collector.add(
          QoSResult(
            uid: entry.objective.uid, kind: entry.objective.kind, status: status, start: began - start,
            duration: now - began, members: members))
      }
      // In slices, so that limits and an abort are seen.
      next.wait(nanoseconds: 50_000_000)
    }
  }

  /// Runs one test, on its own thread: connects to its QoS server first, if it needs one.
  /// - Parameter report: Called exactly once.
  private func run(
    _ entry: Entry, _ connections: QTPConnections, idle: Int64, start: Int64, _ whole: Waiting,
    _ report: (QoSResult) -> Void
  ) {
    let clock = whole.clock
    var began = clock.now()
    var (status, members) = (QoSStatus.error, [JSON.Member]())
    var trouble: String?
    do {
      var control: QTPConnection?
      if entry.objective.kind.needsServer {
        guard let server = entry.objective.server else { throw SpeedTestError.protocolError("no QoS server") }
        let opening = Waiting(clock: clock, deadline: min(whole.deadline, began + Self.connecting))
        control = try connections.connection(to: server, idle: idle, opening)
        began = clock.now()
      }
      let waiting = Waiting(
        clock: clock, deadline: min(whole.deadline, began + entry.test.limit + Self.grace - 1_000_000_000))
      let context = QoSContext(
        waiting: waiting, control: control, token: plan.token, family: plan.access.family,
        interface: plan.access.interface,
        traffic: counter)
      (status, members) = entry.test.result(context)
    } catch {
      (status, members) = entry.test.failed((error as? SpeedTestError).map(QoSStatus.init) ?? .error)
      trouble = (entry.objective.server.map { "\(HostPort(host: $0.host, port: $0.port)): " } ?? "") + "\(error)"
    }
    report(
      QoSResult(
        uid: entry.objective.uid, kind: entry.objective.kind, status: status, start: began - start,
        duration: clock.now() - began, members: members, trouble: trouble))
  }
}

/// The test of an objective by its type: the one place that knows all types.
enum QoSTestList {
  static func test(_ objective: QoSObjective) -> any QoSTest {
    let parameters = objective.parameters
    return switch objective.kind {
    case .tcp: TCPTest(parameters)
    case .udp: UDPTest(parameters)
    case .voip: VoIPTest(parameters)
    case .nonTransparentProxy: ProxyTest(parameters)
    case .httpProxy: PageTest(proxy: parameters)
    case .dns: DNSTest(parameters)
    case .website: PageTest(website: parameters)
    case .traceroute: TracerouteTest(parameters)
    case .tracerouteMasked: TracerouteTest(parameters, isMasked: true)
    }
  }
}

/// The results of all QoS tests of a run.
struct QoSOutcome: Hashable, Sendable {
  /// The token as the control server issued it, byte by byte (docs/protocol.md, edge 40).
  let token: MeasurementToken
  /// One for each test, in the order of ``QoSObjectives/all``.
  let results: [QoSResult]
  /// The bytes of all tests until the run ended, control connections included.
  var traffic = SpeedTestTraffic()

  /// The members of the body of `/resultQoS` that come from the tests: the token and the results. The caller adds the client's
  /// members.
  var members: [JSON.Member] {
    JSON.members(["test_token": .string(token.text), "qos_result": .array(results.map(\.json))])
  }
}

/// Collects the results of tests that run side by side, by the number of the test. The first result of a test counts: a result
/// that comes after the timeout changes nothing.
final class QoSCollector: Sendable {
  private struct State {
    var results: [Int64: QoSResult] = [:]
    var next = Latch()
  }

  private let state = Mutex(State())

  func add(_ result: QoSResult) {
    state.withLock { state in
      guard state.results[result.uid] == nil else { return }
      state.results[result.uid] = result
      state.next.open()
      state.next = Latch()
    }
  }

  func has(_ uid: Int64) -> Bool { state.withLock { $0.results[uid] != nil } }

  /// Opens with the next result.
  var next: Latch { state.withLock { $0.next } }

  /// The results in the order of `objectives`.
  func results(of objectives: [QoSObjective]) -> [QoSResult] {
    state.withLock { state in objectives.compactMap { state.results[$0.uid] } }
  }
}

/// The result of one test, as `/resultQoS` takes it.
struct QoSResult: Hashable, Sendable {
  /// The control server's number of the test.
  let uid: Int64
  let kind: QoSTestKind
  /// The end of the test. The wire has it only inside `members`, where the type has a name for it.
  let status: QoSStatus
  /// ns since the start of the run.
  let start: Int64
  /// ns. In a test that ran, the opening of its control connection does not count.
  let duration: Int64
  /// The objective and the figures, by the names of the wire.
  let members: [JSON.Member]
  /// Why its QoS server cannot be used, for people: the wire has no place for it.
  var trouble: String?

  /// The entry of `qos_result`.
  var json: JSON {
    .object(
      JSON.members([
        "qos_test_uid": .integer(uid), "test_type": .string(kind.rawValue), "start_time_ns": .integer(start),
        "duration_ns": .integer(duration),
      ]) + members)
  }
}
