import Coverage
import Foundation

extension Coordinate {
  /// The lengths of a degree of latitude and of longitude here, in metres, on the WGS 84 ellipsoid. Both are above 0, at the poles too.
  var metresPerDegree: (north: Double, east: Double) {
    let squaredEccentricity = 0.006_694_379_990_141
    let phi = latitude * .pi / 180
    let slope = 1 - squaredEccentricity * sin(phi) * sin(phi)
    let primeVertical = 6_378_137 / slope.squareRoot()
    let meridian = primeVertical * (1 - squaredEccentricity) / slope
    // A circle of any size around a pole has every longitude.
    return (meridian * .pi / 180, max(1, primeVertical * cos(phi) * .pi / 180))
  }
}
