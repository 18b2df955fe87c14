/// How a QoS test ended, as results have it.
public enum QoSStatus: String, Hashable, Sendable {
  case ok = "OK"
  case timeout = "TIMEOUT"
  case error = "ERROR"

  /// The status of a test that failed.
  init(_ failure: SpeedTestError) {
    switch failure {
    case .timeout: self = .timeout
    default: self = .error
    }
  }
}
