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
  let family: SpeedTestPlan.Family
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
