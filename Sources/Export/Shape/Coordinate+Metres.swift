import Coverage
import Foundation

extension Coordinate {
  /// The lengths of a degree of latitude and of longitude here, in metres, on the WGS 84 ellipsoid: the radii of curvature in
  /// the meridian and in the prime vertical. Both are above 0, at the poles too.
  var metresPerDegree: (north: Double, east: Double) {
    // e² = f (2 - f) of WGS 84, 1/f = 298.257223563.
    let squaredEccentricity = 0.006_694_379_990_141
    let phi = latitude * .pi / 180
    let slope = 1 - squaredEccentricity * sin(phi) * sin(phi)
    let primeVertical = 6_378_137 / slope.squareRoot()
    let meridian = primeVertical * (1 - squaredEccentricity) / slope
    // A degree of longitude has no length at a pole. One metre is the least here: it bounds the longitudes of a circle.
    return (meridian * .pi / 180, max(1, primeVertical * cos(phi) * .pi / 180))
  }
}
