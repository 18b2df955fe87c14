import Coverage

/// The result of a drive on one link.
public struct DriveSummary: Sendable {
  /// The drive's id in the store.
  public let drive: Int64
  /// The link's name; `nil` when there is one link only.
  public let link: String?
  /// Fences of the drive.
  public let fences: Int
  /// Fences of the drive that Wi-Fi did not touch.
  public let submittableFences: Int
  /// All pings of the drive.
  public let tally: PingTally
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
  /// Why pings could not be sent; `nil` when all were.
  public let unsentReason: String?

  /// Joins the results of one link.
  public init(
    drive: Int64, link: String?, fences: Int, submittableFences: Int, tally: PingTally,
    totals: DriveTotals = DriveTotals(), lasted: Duration,
    reason: StopReason, capture: CaptureSummary?, silence: String?, unsentReason: String? = nil
  ) {
    self.unsentReason = unsentReason
    (self.drive, self.link, self.fences, self.submittableFences) = (drive, link, fences, submittableFences)
    self.totals = totals
    (self.tally, self.lasted, self.reason, self.capture, self.silence) = (tally, lasted, reason, capture, silence)
  }
}
