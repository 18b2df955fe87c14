/// A stretch of a drive that belongs to one test of the control server (docs/algorithm.md, 7). A drive has one session
/// or more, one after the other.
public struct Session: Hashable, Sendable {
  /// Position among the drive's sessions, from 0.
  public let number: Int
  /// The control server's identifier of the test; `nil` until the server has answered.
  public internal(set) var testUUID: String?
  /// When the session began.
  public let started: DriveTime
  /// The moment to which the server relates the offsets of the fences; `nil` until the server has answered.
  public internal(set) var anchor: DriveTime?
  /// When the session ended; `nil` while it is current.
  public internal(set) var finalized: DriveTime?
  /// The address of this host from which its pings leave; `nil` when it is not known.
  public internal(set) var localAddress: String?
  /// The server's series of tests that its test belongs to; `nil` when it is not known.
  public internal(set) var loopUUID: String?
  /// The modem, SIM and connection that it was measured with, the last ones known; `nil` when none was.
  public internal(set) var equipment: ModemEquipment?

  /// A session with the given values; without the optional ones the current session of a drive that has no answer yet.
  public init(
    number: Int, testUUID: String? = nil, started: DriveTime, anchor: DriveTime? = nil, finalized: DriveTime? = nil,
    localAddress: String? = nil, loopUUID: String? = nil, equipment: ModemEquipment? = nil
  ) {
    self.number = number
    self.testUUID = testUUID
    self.started = started
    self.anchor = anchor
    self.finalized = finalized
    self.localAddress = localAddress
    (self.loopUUID, self.equipment) = (loopUUID, equipment)
  }
}

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
  /// The server's series of tests that the test belongs to; `nil` when it is not known.
  public let loopUUID: String?

  /// A grant of test `testUUID`; without `anchor` the event's time is the anchor, without `maximumDuration` the operator's limit holds.
  public init(
    testUUID: String, anchor: DriveTime? = nil, maximumDuration: Duration? = nil, localAddress: String? = nil,
    loopUUID: String? = nil
  ) {
    self.testUUID = testUUID
    self.anchor = anchor
    self.maximumDuration = maximumDuration
    self.localAddress = localAddress
    self.loopUUID = loopUUID
  }
}
