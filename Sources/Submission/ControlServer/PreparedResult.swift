/// A request that submits fences or a speed test, ready to send (``ControlServerClient/prepare(_:)``).
public struct PreparedResult: Hashable, Sendable {
  /// The request's name.
  let path: String
  /// The body.
  let text: String
  /// The client UUID in the body; it is redacted in failures.
  let clientUUID: String
}
