/// The data that `sessions forget` deletes.
public enum ForgetTarget: Hashable, Sendable, CustomStringConvertible {
  /// A session with its fences.
  case session(Int64)
  /// A speed test.
  case speedTest(Int64)

  /// For an operator.
  public var description: String {
    switch self {
    case .session(let id): "session \(id)"
    case .speedTest(let id): "speed test \(id)"
    }
  }

  /// The target as a query of the service's `/forget`.
  var query: String {
    switch self {
    case .session(let id): "session=\(id)"
    case .speedTest(let id): "speed-test=\(id)"
    }
  }

  /// The target of a request to the service.
  /// - Parameter parameter: The value of a query parameter.
  /// - Returns: `nil` without exactly one id.
  init?(query parameter: (String) -> String?) {
    switch (parameter("session"), parameter("speed-test")) {
    case (let id?, nil):
      guard let id = Int64(id) else { return nil }
      self = .session(id)
    case (nil, let id?):
      guard let id = Int64(id) else { return nil }
      self = .speedTest(id)
    default: return nil
    }
  }
}
