import Coverage

/// The QoS tests to run, and their settings.
struct QoSPlan: Hashable, Sendable {
  let objectives: QoSObjectives
  /// The token of the test, exactly as the control server issued it.
  let token: MeasurementToken
  /// The IP version of all connections but those to DNS resolvers, whose addresses come with the objectives.
  var family: IPVersion?
  /// The interface that all packets leave by; `nil`: the routes decide.
  var interface: String?
  /// Whether control connections use TLS.
  var encryption = QoSEncryption.auto
  /// Whether the certificate of a QoS server must be valid for its name. Fetches of pages always check it.
  var verifiesCertificate = true
  /// The PEM file of certificates to trust instead of the system's, for QoS servers.
  var caFile: String?
  /// Seconds until all tests end, 1 to 3600; a test without a result by then gets TIMEOUT.
  var seconds = 240

  /// ns for all tests.
  var limit: Int64 { Int64(min(max(seconds, 1), 3600)) * 1_000_000_000 }
}
