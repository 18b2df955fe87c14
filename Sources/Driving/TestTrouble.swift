import ControlServer
import Submission

/// Why there is no test to ping on.
struct TestTrouble: Hashable, Sendable {
  /// One line for the log.
  let text: String
  /// The text without figures that change with each try, such as the seconds of a wait.
  let subject: String

  init(_ text: String) { (self.text, subject) = (text, text) }

  /// - Parameter error: The error of a request for a test.
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
