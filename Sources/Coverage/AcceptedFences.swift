/// Fences of one drive that the control server has accepted in one request.
public struct AcceptedFences: Hashable, Sendable {
  /// The server's identifier of their test.
  public let testUUID: String
  /// The moment that their offsets relate to.
  public let anchor: WallTime
  /// When the answer came, by the selected clock.
  public let accepted: WallTime
  /// Their numbers in the drive, ascending.
  public let fences: [Int]

  /// Fences with the given numbers, in any order.
  public init(testUUID: String, anchor: WallTime, accepted: WallTime, fences: some Sequence<Int>) {
    (self.testUUID, self.anchor, self.accepted) = (testUUID, anchor, accepted)
    self.fences = fences.sorted()
  }
}
