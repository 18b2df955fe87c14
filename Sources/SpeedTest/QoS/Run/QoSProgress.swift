/// The progress of QoS tests, for a display; one with each new result.
public struct QoSProgress: Hashable, Sendable {
  /// Tests with a result.
  public let done: Int
  /// All tests.
  public let count: Int
  /// The result that is new.
  public let newest: QoSResult
}
