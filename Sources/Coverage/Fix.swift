/// What the positioning knows at one moment. Values that the receiver did not give, or gave as impossible, are `nil`.
public struct Fix: Hashable, Sendable {
  /// Where; `nil` when the position is not known (no fix, or the receiver went silent).
  public let coordinate: Coordinate?
  /// Horizontal accuracy in metres, at 68 % confidence, as phones report it.
  /// `nil` when it is unknown; such a fix opens no fence.
  public let accuracy: Double?
  /// Metres above mean sea level.
  public let altitude: Double?
  /// Degrees clockwise from true north, 0 to 360.
  public let course: Double?
  /// Metres a second over ground.
  public let speed: Double?

  /// Keeps what is possible. A negative accuracy, course or speed means "invalid" (spec 1.3) and becomes `nil`, as does
  /// anything that is not a finite number.
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

  /// The position is not known.
  public static let lost = Fix(coordinate: nil)

  private static func nonNegative(_ value: Double) -> Double? {
    value.isFinite && value >= 0 ? value : nil
  }
}
