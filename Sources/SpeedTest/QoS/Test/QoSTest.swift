import Coverage
import OrderedJSON

/// One type of QoS test: how it measures, and the members of its result. ``QoSTestList`` makes it from the parameters of an
/// objective; ``QoSRun`` runs it. Bad parameters do not fail in `init`: `measure` throws, so that each objective has a result.
protocol QoSTest: Sendable {
  /// The measurement, before it becomes members of a result.
  associatedtype Finding: Sendable

  /// ns that the test may take. The run adds a grace before it gives the test up.
  var limit: Int64 { get }
  /// The objective as the result repeats it, under `TYPE_objective_NAME`.
  var objective: [JSON.Member] { get }
  /// Runs the test; it may block, as it has a thread of its own.
  /// - Throws: ``SpeedTestError`` when nothing was found; ``QoSStatus/init(_:)`` makes TIMEOUT or ERROR of it.
  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding
  func members(_ finding: Finding) -> [JSON.Member]
  /// The members of the result of a test that found nothing, for the given reason.
  func members(without reason: QoSStatus) -> [JSON.Member]
  /// The status of a finding; OK unless the test says otherwise.
  func status(_ finding: Finding) -> QoSStatus
}

extension QoSTest {
  func status(_ finding: Finding) -> QoSStatus { .ok }

  /// Runs the test to a result, also after an error.
  func result(_ context: QoSContext) -> (status: QoSStatus, members: [JSON.Member]) {
    do {
      let finding = try measure(context)
      return (status(finding), objective + members(finding))
    } catch {
      return failed(QoSStatus(error))
    }
  }

  /// The result of a test that could not run, or did not return.
  func failed(_ status: QoSStatus) -> (status: QoSStatus, members: [JSON.Member]) {
    (status, objective + members(without: status))
  }
}

/// The clock, limits and connections that ``QoSRun`` gives to a running QoS test.
struct QoSContext: Sendable {
  /// The clock, and the time at which the run gives the test up. It is later than the test's own limit, so that a test can still
  /// collect a result.
  let waiting: Waiting
  /// The control connection to the test's server; `nil` when the test needs none. Other tests use it at the same time.
  let control: QTPConnection?
  /// The token of the test run; UDP packets have its uuid.
  let token: MeasurementToken
  /// The version of the internet protocol for hosts that the test resolves itself.
  let family: IPVersion?
  /// The interface that all packets leave by; `nil`: the routes decide.
  var interface: String?
  /// Counts the bytes of the test.
  var traffic = TrafficCounter()

  /// ns of the clock.
  var now: Int64 { waiting.clock.now() }

  /// The limits of a part of the test, which ends `limit` ns from now, but not after the test.
  func waiting(_ limit: Int64) -> Waiting {
    Waiting(clock: waiting.clock, deadline: min(waiting.deadline, now + limit))
  }
}

/// The end of a QoS test, in the words of results.
enum QoSStatus: String, Hashable, Sendable {
  /// The test has a finding that is as it should be.
  case ok = "OK"
  /// A limit passed, no packet arrived, or a traceroute did not reach its host.
  case timeout = "TIMEOUT"
  /// Everything else: a refusal, a changed line, a host that cannot be reached, an abort.
  case error = "ERROR"

  /// The status of a test that failed.
  init(_ failure: SpeedTestError) {
    switch failure {
    case .timeout: self = .timeout
    default: self = .error
    }
  }
}
