/// A test in the server's history of tests with fences (docs/protocol.md, 3.6).
public struct HistoryItem: Hashable, Sendable {
  /// The identifier of the test.
  public let testUUID: String
  /// The `time` of the client's request for the test, in milliseconds since the epoch; `nil` when the server gives none.
  public let time: Int64?
  /// The number of fences that the server has for the test.
  public let fences: Int

  /// An item with the given values.
  public init(testUUID: String, time: Int64?, fences: Int) {
    self.testUUID = testUUID
    self.time = time
    self.fences = fences
  }
}
