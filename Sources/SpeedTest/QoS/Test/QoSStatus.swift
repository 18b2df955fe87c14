/// The end of a QoS test, in the words of results.
public enum QoSStatus: String, Hashable, Sendable {
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
