import Coverage

/// The QoS tests to run, and their settings.
struct QoSPlan: Hashable, Sendable {
  let objectives: QoSObjectives
  /// The token of the test, exactly as the control server issued it.
  let token: MeasurementToken
  var access = TestAccess()
  /// Whether control connections use TLS.
  var encryption = QoSEncryption.auto
  /// Seconds until all tests end, 1 to 3600; a test without a result by then gets TIMEOUT.
  var seconds = 240

  /// ns for all tests.
  var limit: Int64 { Int64(min(max(seconds, 1), 3600)) * 1_000_000_000 }
}
