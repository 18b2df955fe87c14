/// The QoS tests to run, and their settings.
public struct QoSPlan: Hashable, Sendable {
  /// The tests.
  public let objectives: QoSObjectives
  /// The token of the test, exactly as the control server issued it.
  public let token: MeasurementToken
  /// The version of the internet protocol.
  public var family = SpeedTestPlan.Family.any
  /// Whether control connections use TLS.
  public var encryption = QoSEncryption.auto
  /// Whether a server's certificate must be valid for its name.
  public var verifiesCertificate = true
  /// The file of certificates to trust instead of the system's.
  public var caFile: String?
  /// Seconds until all tests end, 1 to 3600; a test without a result by then gets TIMEOUT.
  public var seconds = 240

  /// A plan with the usual values.
  public init(objectives: QoSObjectives, token: MeasurementToken) {
    (self.objectives, self.token) = (objectives, token)
  }

  var limit: Int64 { Int64(min(max(seconds, 1), 3600)) * 1_000_000_000 }
}
