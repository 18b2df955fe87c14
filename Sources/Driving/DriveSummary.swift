import Coverage

/// The result of a drive on one link.
public struct DriveSummary: Sendable {
  /// Its number in the store.
  public let drive: Int64
  /// The link's name, where there are several.
  public let link: String?
  public let fences: Int
  public let submittableFences: Int
  public let tally: PingTally
  public let lasted: Duration
  public let reason: StopReason
  /// `nil` without a capture.
  public let capture: CaptureSummary?
  /// Why no ping was sent; `nil` when one was.
  public let silence: String?

  public init(
    drive: Int64, link: String?, fences: Int, submittableFences: Int, tally: PingTally, lasted: Duration,
    reason: StopReason, capture: CaptureSummary?, silence: String?
  ) {
    (self.drive, self.link, self.fences, self.submittableFences) = (drive, link, fences, submittableFences)
    (self.tally, self.lasted, self.reason, self.capture, self.silence) = (tally, lasted, reason, capture, silence)
  }
}
