import ControlServer
import Submission

/// Why there is no test to ping on.
struct TestTrouble: Hashable, Sendable {
  /// One line for the log.
  let text: String
  /// Equal for troubles of the same kind; figures that change with each try, such as the seconds of a wait, are no part of it.
  let subject: String
  /// The reason in words that stay true until the next try.
  let reason: String

  init(_ text: String) { (self.text, subject, reason) = (text, text, text) }

  /// - Parameter error: The error of a request for a test.
  init(_ error: any Error) {
    text = "\(error)"
    reason = (error as? ServerGate.Hold)?.reason ?? text
    subject =
      switch error {
      case is ServerGate.Hold: "held"
      case ServerFailure.tooManyRequests: "429"
      case ServerFailure.serverTrouble(let status, _, _): "\(status)"
      default: "\(error)"
      }
  }
}
