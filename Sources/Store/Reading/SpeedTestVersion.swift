/// A state of a stored speed test, by a text that is another one after each step of the test.
public struct SpeedTestVersion: Hashable, Sendable, Identifiable {
  /// The test's row number in the store.
  public let id: Int64
  /// To be compared with another one of the same test.
  public let text: String

  /// A version with the given values.
  public init(id: Int64, text: String) { (self.id, self.text) = (id, text) }
}
