@testable import Coverage

/// Places in metres from an origin, computed with the meridian's and the parallel's radii of curvature: independent of
/// `Coordinate.distance`, so that its faults show. Due north or east it is exact to 0.01 mm within a hundred metres.
struct Ground {
  let latitude: Double
  let longitude: Double

  static let vienna = Ground(latitude: 48.2082, longitude: 16.3738)
  /// Flat ground: within a kilometre, distances match Pythagoras to some micrometres.
  static let equator = Ground(latitude: 0, longitude: 0)

  func place(north: Double, east: Double) -> Coordinate? {
    let (radius, squaredEccentricity) = (6_378_137.0, 0.006_694_379_990_141_317)
    let sine = Self.sine(latitude)
    let w = (1 - squaredEccentricity * sine * sine).squareRoot()
    let meridian = radius * (1 - squaredEccentricity) / (w * w * w)
    let parallel = radius / w * (1 - sine * sine).squareRoot()
    return Coordinate(
      latitude: latitude + north / meridian * 180 / .pi, longitude: longitude + east / parallel * 180 / .pi)
  }

  /// Taylor's series; enough terms for any latitude.
  private static func sine(_ degrees: Double) -> Double {
    let x = degrees * .pi / 180
    var (term, sum) = (x, x)
    for n in 1...14 {
      term *= -x * x / Double(2 * n * (2 * n + 1))
      sum += term
    }
    return sum
  }
}
