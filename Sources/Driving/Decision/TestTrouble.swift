import Submission

/// Why there is no test to ping on.
struct TestTrouble: Hashable, Sendable {
  /// One line for the log.
  let text: String
  /// Equal for troubles of the same kind; figures that change with each try, such as the seconds of a wait, are no part of it.
  let subject: String
  /// The reason in words that stay true until the next try.
  let reason: String
  /// Whether the server's answer or a fault of this host is the reason, so that the network may work.
  let mayHaveNetwork: Bool

  init(_ text: String, mayHaveNetwork: Bool = false) {
    (self.text, subject, reason, self.mayHaveNetwork) = (text, text, text, mayHaveNetwork)
  }

  /// - Parameter error: The error of a request for a test.
  init(_ error: any Error) {
    text = "\(error)"
    reason = (error as? ServerGate.Hold)?.reason ?? text
    mayHaveNetwork = (error as? ServerFailure)?.mayHaveNetwork ?? true
    subject =
      switch error {
      case is ServerGate.Hold: "held"
      case ServerFailure.tooManyRequests: "429"
      case ServerFailure.serverTrouble(let status, _, _): "\(status)"
      default: "\(error)"
      }
  }
}

extension ServerFailure {
  /// Whether something answered, so that there is a network.
  fileprivate var mayHaveNetwork: Bool {
    switch self {
    case .unreachable, .noAnswer: false
    case .tooManyRequests, .refused, .serverTrouble, .notTheServer, .unusableAnswer: true
    }
  }
}
