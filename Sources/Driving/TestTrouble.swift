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

/// The troubles that the log already has since pings began on a test. A pure value.
struct TestTroubles: Hashable, Sendable {
  /// Limits the lines: an operator does not read more different reasons than this.
  private static let most = 16
  private var told: Set<String> = []

  /// - Returns: Whether the log does not have `trouble` yet.
  mutating func isNews(_ trouble: TestTrouble) -> Bool {
    told.count < Self.most && told.insert(trouble.subject).inserted
  }

  /// Pings began on a test: the next trouble is news again.
  mutating func end() { told.removeAll() }
}
