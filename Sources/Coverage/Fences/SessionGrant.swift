/// The control server's answer to a request for a test, as far as the engine needs it.
public struct SessionGrant: Hashable, Sendable {
  /// The server's identifier of the test.
  public let testUUID: String
  /// The moment to which the server relates the offsets of the fences; `nil`: the time of the event.
  public let anchor: DriveTime?
  /// The server's limit for the whole drive. It has an effect only where it is shorter than the operator's.
  public let maximumDuration: Duration?
  /// The address of this host from which the pings leave; `nil` when it is not known.
  public let localAddress: String?

  /// A grant of test `testUUID`; without `anchor` the event's time is the anchor, without `maximumDuration` the operator's limit holds.
  public init(
    testUUID: String, anchor: DriveTime? = nil, maximumDuration: Duration? = nil, localAddress: String? = nil
  ) {
    self.testUUID = testUUID
    self.anchor = anchor
    self.maximumDuration = maximumDuration
    self.localAddress = localAddress
  }
}
