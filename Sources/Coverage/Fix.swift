/// Position, accuracy and motion at one moment. A value that the receiver did not give, or that is impossible, is `nil`.
public struct Fix: Hashable, Sendable {
  /// The position; `nil` when the receiver has no fix or went silent.
  public let coordinate: Coordinate?
  /// Horizontal accuracy in metres, at 68 % confidence, as phones report it. `nil` when it is unknown: such a fix opens no
  /// fence.
  public let accuracy: Double?
  /// Metres above mean sea level.
  public let altitude: Double?
  /// Degrees clockwise from true north, 0 to 360.
  public let course: Double?
  /// Metres a second over ground, not negative.
  public let speed: Double?

  /// Replaces impossible values by `nil`: a negative accuracy, course or speed, which means "invalid"
  /// (docs/algorithm.md, 3), a course above 360 degrees, and values that are not finite.
  public init(
    coordinate: Coordinate?, accuracy: Double? = nil, altitude: Double? = nil, course: Double? = nil,
    speed: Double? = nil
  ) {
    self.coordinate = coordinate
    self.accuracy = accuracy.flatMap(Self.nonNegative)
    self.altitude = altitude.flatMap { $0.isFinite ? $0 : nil }
    self.course = course.flatMap(Self.nonNegative).flatMap { $0 <= 360 ? $0 : nil }
    self.speed = speed.flatMap(Self.nonNegative)
  }

  /// The fix without a position.
  public static let lost = Fix(coordinate: nil)

  private static func nonNegative(_ value: Double) -> Double? {
    value.isFinite && value >= 0 ? value : nil
  }
}
