/// A condition that the operator has to see, with the stretch of time in which it held.
public struct Warning: Hashable, Sendable {
  /// The kinds of warnings. The raw values appear in `replay`'s summary.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// There is no accurate fix.
    case waitingForGPS = "waiting-for-gps"
    /// The link is not measured (``Path/wifi``).
    case wifi
  }

  /// The condition.
  public let kind: Kind
  /// When it began.
  public let from: DriveTime
  /// When it ended; `nil` while it lasts, and for a warning that lasted to the end of the drive.
  public internal(set) var to: DriveTime?
}
