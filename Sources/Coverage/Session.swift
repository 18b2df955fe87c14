/// One test of the control server within a drive (spec 1.3). A drive has one or more, one after the other.
public struct Session: Hashable, Sendable {
  /// Position among the drive's sessions, from 0.
  public let number: Int
  /// The control server's name for it; `nil` until the server has answered.
  public internal(set) var testUUID: String?
  public let started: DriveTime
  /// The moment to which the server relates the offsets of the fences; `nil` until the server has answered.
  public internal(set) var anchor: DriveTime?
  public internal(set) var finalized: DriveTime?

  public init(
    number: Int, testUUID: String? = nil, started: DriveTime, anchor: DriveTime? = nil, finalized: DriveTime? = nil
  ) {
    self.number = number
    self.testUUID = testUUID
    self.started = started
    self.anchor = anchor
    self.finalized = finalized
  }
}
