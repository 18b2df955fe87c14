/// A request that submits fences, ready to send (``ControlServerClient/prepare(_:)``).
public struct PreparedResult: Hashable, Sendable {
  /// The body.
  let text: String
  /// The client UUID in the body; it is redacted in failures.
  let clientUUID: String
}
