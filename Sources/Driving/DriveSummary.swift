import Coverage

/// The result of a drive on one link.
public struct DriveSummary: Sendable {
  /// The drive's id in the store.
  public let drive: Int64
  /// The link's name; `nil` when there is one link only.
  public let link: String?
  /// Fences of the drive.
  public let fences: Int
  /// Fences of the drive that may be submitted: Wi-Fi did not touch them, and the probe could measure.
  public let submittableFences: Int
  /// What it has counted.
  public let totals: DriveTotals
  /// Time from start to stop.
  public let lasted: Duration
  /// Why the drive stopped.
  public let reason: StopReason
  /// The result of the capture; `nil` without one.
  public let capture: CaptureSummary?
  /// Why no ping was sent; `nil` when one was sent.
  public let silence: String?
  /// Why there is no fence although pings were sent; `nil` when there is one, or when the position is not the reason.
  public let fencelessReason: String?
  /// Why pings could not be sent; `nil` when all were.
  public let unsentReason: String?
  /// The user's own target, whose fences are kept here; `nil`: the control server's.
  public let target: DriveTarget?

  /// All pings of the drive.
  public var tally: PingTally { totals.tally }
}
