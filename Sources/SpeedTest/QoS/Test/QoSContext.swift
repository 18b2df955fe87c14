/// What a QoS test may use while it runs.
struct QoSContext: Sendable {
  /// The clock, and the end of the test.
  let waiting: Waiting
  /// The control connection to the test's server; `nil` when the test needs none.
  let control: QTPConnection?
  let token: MeasurementToken
  let family: SpeedTestPlan.Family
  /// Counts the bytes of the test.
  var traffic = TrafficCounter()

  var now: Int64 { waiting.clock.now() }

  /// A part of the test with a time limit of its own, in ns from now.
  func waiting(_ limit: Int64) -> Waiting {
    Waiting(clock: waiting.clock, deadline: min(waiting.deadline, now + limit))
  }
}
