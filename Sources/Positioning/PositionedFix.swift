import Coverage

/// A fix, with the receiver's reports from which it was computed.
public struct PositionedFix: Hashable, Sendable {
  /// The fix for the engine; its accuracy is a 68 % radius.
  public let fix: Fix
  /// When the position reached this host; its age counts from here. For a lost fix, when the loss was detected.
  public let arrival: ContinuousClock.Instant
  /// When the epoch was complete and the fix was delivered; not before ``arrival``, nor before the same time of an earlier fix.
  public let delivered: ContinuousClock.Instant
  /// How the accuracy was computed.
  public let accuracyRule: AccuracyRule
  /// gpsd's path of the receiver; `nil` when unknown.
  public let device: String?
  /// gpsd's name of the receiver's driver; `nil` when unknown.
  public let driver: String?
  /// What the receiver says of itself: gpsd's `subtype` and `subtype1`, at most 160 characters; `nil` when unknown.
  public let model: String?
  /// The merged reports of the epoch with gpsd's values; error estimates are unscaled. `nil` for a lost fix.
  public let report: TPV?
  /// The latest dilutions of precision.
  public let dilution: Dilution?
  /// The receiver's standard deviations; `nil` when it does not report them.
  public let gst: GSTReport?
  /// An impossible speed of the receiver in metres a second, which the fix leaves out.
  public let refusedSpeed: Double?
  /// The receiver's time minus the host's. Not for use as a clock: receivers' dates are often wrong (docs/protocol.md,
  /// 4.4).
  public let clockDifference: Duration?

  /// A fix with the given values; without `delivered` it was delivered on arrival.
  public init(
    fix: Fix, arrival: ContinuousClock.Instant, delivered: ContinuousClock.Instant? = nil,
    accuracyRule: AccuracyRule = .none, device: String? = nil, driver: String? = nil, model: String? = nil,
    report: TPV? = nil, dilution: Dilution? = nil, gst: GSTReport? = nil, refusedSpeed: Double? = nil,
    clockDifference: Duration? = nil
  ) {
    (self.fix, self.arrival) = (fix, arrival)
    self.delivered = delivered ?? arrival
    (self.accuracyRule, self.device, self.driver, self.model) = (accuracyRule, device, driver, model)
    (self.report, self.dilution, self.gst, self.refusedSpeed) = (report, dilution, gst, refusedSpeed)
    self.clockDifference = clockDifference
  }
}
