import ControlServer
import Submission

/// Why there is no test to ping on.
struct TestTrouble: Hashable, Sendable {
  /// One line for the log.
  let text: String
  /// The same without figures that differ from try to try, such as the seconds of a wait.
  let subject: String

  init(_ text: String) { (self.text, subject) = (text, text) }

  /// - Parameter error: What a request for a test ended with.
  init(_ error: any Error) {
    text = "\(error)"
    subject =
      switch error {
      case is ServerGate.Hold: "held"
      case ServerFailure.tooManyRequests: "429"
      case ServerFailure.serverTrouble(let status, _, _): "\(status)"
      default: "\(error)"
      }
  }
}

/// Which troubles the log has already, since the last test that pings began on. A pure value.
struct TestTroubles: Hashable, Sendable {
  /// More different ones than a person can read of say nothing more.
  private static let most = 16
  private var told: Set<String> = []

  /// - Returns: Whether `trouble` is news for the log.
  mutating func isNews(_ trouble: TestTrouble) -> Bool {
    told.count < Self.most && told.insert(trouble.subject).inserted
  }

  /// There is a test, and pings begin on it.
  mutating func end() { told.removeAll() }
}
