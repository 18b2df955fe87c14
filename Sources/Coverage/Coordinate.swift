// Coverage imports nothing but the standard library; of libc it uses these functions.
import func Glibc.asin
import func Glibc.cos
import func Glibc.sin

/// A point on the WGS 84 ellipsoid.
public struct Coordinate: Hashable, Sendable {
  /// Degrees north, -90 to 90.
  public let latitude: Double
  /// Degrees east, -180 to 180.
  public let longitude: Double

  /// `nil` for NaN and for a position outside of the ranges above.
  public init?(latitude: Double, longitude: Double) {
    guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Metres along the ground to `other`.
  ///
  /// Computes the chord between the two points of the ellipsoid and its arc at the mean Earth radius. Up to 10 km, far beyond any
  /// fence, the result differs from the geodesic by less than a millimetre; across a continent by less than one percent.
  public func distance(to other: Coordinate) -> Double {
    let (a, b) = (geocentric, other.geocentric)
    let (dx, dy, dz) = (a.x - b.x, a.y - b.y, a.z - b.z)
    let chord = (dx * dx + dy * dy + dz * dz).squareRoot()
    let diameter = 2 * 6_371_008.8
    return diameter * asin(min(1, chord / diameter))
  }

  /// Earth-centred coordinates in metres, height 0 (WGS 84: a = 6378137 m, 1/f = 298.257223563).
  private var geocentric: (x: Double, y: Double, z: Double) {
    let equatorialRadius = 6_378_137.0
    let flattening = 1 / 298.257_223_563
    let squaredEccentricity = flattening * (2 - flattening)
    let phi = latitude * .pi / 180
    let lambda = longitude * .pi / 180
    let sinPhi = sin(phi)
    let cosPhi = cos(phi)
    let primeVertical = equatorialRadius / (1 - squaredEccentricity * sinPhi * sinPhi).squareRoot()
    return (
      primeVertical * cosPhi * cos(lambda),
      primeVertical * cosPhi * sin(lambda),
      primeVertical * (1 - squaredEccentricity) * sinPhi
    )
  }
}
