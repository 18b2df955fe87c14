import Coverage
import Foundation

/// The circle of a fence on the ground as rings of positions, counterclockwise and closed (RFC 7946, 3.1.6): the last
/// position is the first one again. It is cut at the antimeridian (``Antimeridian``).
struct CircleOutline {
  /// One ring, or two for a circle across the antimeridian. Longitude and latitude in degrees.
  let rings: [[(x: Double, y: Double)]]
  /// Whether a pole is in the circle: it covers all longitudes.
  let isAroundPole: Bool

  /// The number of corners. All lie on the circle, so the polygon has 0.5 % less area than it: n / 2π × sin(2π / n).
  static let corners = 36

  /// - Parameter radius: Metres; a radius that is not finite counts as 0.
  init(centre: Coordinate, radius: Double) {
    let ring = Self.ring(centre, radius.isFinite ? max(0, radius) : 0)
    (rings, isAroundPole) = Antimeridian.rings(of: ring)
  }

  /// East and north parts of the unit vectors to the corners, counterclockwise from the east. Each circle uses
  /// the same ones.
  private static let directions: [(sin: Double, cos: Double)] = (0..<corners).map { corner in
    let angle = Double(corner) / Double(corners) * 2 * .pi
    return (sin(angle), cos(angle))
  }

  /// The ring around `centre` on the plane that touches the WGS 84 ellipsoid there, seen from the middle of the Earth's axis: exact
  /// to a millimetre for radii up to 1 km, at the poles too. Its longitudes can be beyond 180 degrees.
  private static func ring(_ centre: Coordinate, _ radius: Double) -> [(x: Double, y: Double)] {
    // e² = f (2 - f) of WGS 84, 1/f = 298.257223563.
    let squaredEccentricity = 0.006_694_379_990_141
    let phi = centre.latitude * .pi / 180
    let (sine, cosine) = (sin(phi), cos(phi))
    let primeVertical = 6_378_137 / (1 - squaredEccentricity * sine * sine).squareRoot()
    // Coordinates of the Earth, with the centre on the meridian of 0 degrees: away from the axis, east, and up along the axis.
    let (out, up) = (primeVertical * cosine, primeVertical * (1 - squaredEccentricity) * sine)
    var ring = directions.map { direction in
      let (away, east) = (out - radius * direction.sin * sine, radius * direction.cos)
      let (height, distance) = (up + radius * direction.sin * cosine, (away * away + east * east).squareRoot())
      return (
        x: centre.longitude + atan2(east, away) * 180 / .pi,
        y: atan2(height, distance * (1 - squaredEccentricity)) * 180 / .pi
      )
    }
    ring.append(ring[0])
    return ring
  }
}

/// How a format with a choice draws a fence. The raw values are those of `export --shape`.
public enum FenceShape: String, Hashable, Sendable, CaseIterable {
  /// Its centre.
  case point
  /// Its circle on the ground, as a polygon.
  case circle
}
