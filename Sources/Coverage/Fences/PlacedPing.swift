/// A ping with its place.
public struct PlacedPing: Hashable, Sendable {
  /// When it was sent.
  public let sent: DriveTime
  /// Its outcome.
  public let outcome: PingOutcome
  /// Where it counts.
  public let place: PingPlace

  /// A ping with the given values.
  public init(sent: DriveTime, outcome: PingOutcome, place: PingPlace) {
    (self.sent, self.outcome, self.place) = (sent, outcome, place)
  }
}
