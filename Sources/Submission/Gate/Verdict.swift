import ControlServer

/// What a failure of a request means for what was sent. Each class has a rule of its own in ``AnswerRule``.
enum Verdict: Hashable, Sendable {
  /// 429: the circuit breaker's.
  case tooManyRequests
  /// No connection: nothing has left the device.
  case unreachable
  /// It may have arrived: no answer, or one that need not be the server's own (5xx, HTML, an empty body).
  case doubtful
  /// The server is there and cannot take it now, whatever it is (404, 406 and such).
  case trouble
  /// 401, 403: somebody has to do something.
  case forbidden
  /// 400, 409, 413, 422: not in this shape.
  case rejected
  /// The test was used up, or the server does not know it; only its history tells which.
  case noStartedTest
  /// The server does not know this device any more.
  case unknownClient

  init(_ failure: ServerFailure) {
    self =
      switch failure {
      case .tooManyRequests: .tooManyRequests
      case .unreachable: .unreachable
      case .noAnswer, .serverTrouble, .notTheServer, .unusableAnswer: .doubtful
      case .refused(let status, let message): Self.refusal(status, message)
      }
  }

  private static func refusal(_ status: Int, _ message: String) -> Verdict {
    // The texts are the server's own (docs/protocol.md, 3.1); they come with 400, and some servers put `error` entries
    // into a 200.
    if status == 400 || status < 300 {
      if message.contains("No started test found") { return .noStartedTest }
      if message.contains("No client found") { return .unknownClient }
    }
    return switch status {
    case 401, 403: .forbidden
    case 400, 409, 413, 422: .rejected
    default: .trouble
    }
  }

  /// Whether it says nothing about the batch that met it: no other batch can fare better now.
  var bindsEveryBatch: Bool { self == .unreachable || self == .tooManyRequests }

  /// Whether the server has plainly not taken it.
  var isDefiniteNo: Bool {
    switch self {
    case .tooManyRequests, .unreachable, .trouble, .forbidden, .rejected, .unknownClient: true
    case .doubtful, .noStartedTest: false
    }
  }
}
