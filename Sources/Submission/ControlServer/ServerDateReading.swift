import Coverage

/// The `Date` of an answer of the control server, with the time of its arrival.
public struct ServerDateReading: Hashable, Sendable {
  /// In whole seconds, cut off (RFC 9110, 6.6.1).
  public let date: WallTime
  /// When the answer was complete.
  public let received: ContinuousClock.Instant
  /// From the start of the request to the answer.
  public let roundTrip: Duration
}
