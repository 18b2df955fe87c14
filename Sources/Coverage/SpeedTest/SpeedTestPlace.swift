/// A position during a speed test.
public struct SpeedTestPlace: Hashable, Sendable, Codable {
  /// When, by the ruling clock.
  public let time: WallTime
  /// ns since the start of the test.
  public let offset: Int64
  /// Degrees north.
  public let latitude: Double
  /// Degrees east.
  public let longitude: Double
  /// Metres, 68 % radius.
  public let accuracy: Double?
  /// Metres.
  public let altitude: Double?
  /// Degrees from north, clockwise.
  public let course: Double?
  /// Metres a second.
  public let speed: Double?

  /// - Parameters:
  ///   - fix: The position; it must have a place.
  ///   - time: When, by the ruling clock.
  ///   - offset: ns since the start of the test.
  public init?(_ fix: Fix, at time: WallTime, offset: Int64) {
    guard let coordinate = fix.coordinate else { return nil }
    (self.time, self.offset) = (time, offset)
    (latitude, longitude) = (coordinate.latitude, coordinate.longitude)
    (accuracy, altitude, course, speed) = (fix.accuracy, fix.altitude, fix.course, fix.speed)
  }
}
