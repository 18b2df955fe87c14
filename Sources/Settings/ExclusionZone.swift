import Coverage

/// A circle round a place that no record may show, such as the driver's home: `privacy.exclusion-zones`.
public struct ExclusionZone: Hashable, Sendable {
  /// The centre of the circle.
  public let centre: Coordinate
  /// Metres; the configuration accepts those above 0, at most 100000.
  public let radius: Double

  /// - Parameter radius: Metres, above 0.
  public init(centre: Coordinate, radius: Double) {
    (self.centre, self.radius) = (centre, radius)
  }
}
