/// The class of a failed request. ``BatchRule`` has a rule for each class.
enum Verdict: Hashable, Sendable {
  /// 429: the circuit breaker handles it.
  case tooManyRequests
  /// No connection: no byte left the device.
  case unreachable
  /// The request may have arrived: no answer, or one that may not be the server's own (5xx, HTML, an empty body).
  case doubtful
  /// The server answered and cannot handle any request now (404, 406 and such).
  case trouble
  /// 401, 403: an operator has to act.
  case forbidden
  /// 400, 409, 413, 422: the server refuses this content.
  case rejected
  /// The test is used up, or unknown to the server; only the server's history distinguishes the two.
  case noStartedTest
  /// The server no longer knows this device.
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
    // The texts are the server's own (docs/protocol.md, 3.1). They come with 400; some servers send `error` entries
    // with 200.
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

  /// Whether the failure concerns every batch: no other batch can succeed now.
  var bindsEveryBatch: Bool { self == .unreachable || self == .tooManyRequests }

  /// Whether no request of any kind can succeed now.
  var concernsEveryRequest: Bool { bindsEveryBatch || self == .forbidden }

  /// Whether the server has certainly not stored the batch.
  var isDefiniteNo: Bool {
    switch self {
    case .tooManyRequests, .unreachable, .trouble, .forbidden, .rejected, .unknownClient: true
    case .doubtful, .noStartedTest: false
    }
  }
}
