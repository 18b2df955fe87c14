import Coverage
import Foundation

/// The circle of a fence on the ground as rings of positions, counterclockwise and closed (RFC 7946, 3.1.6): the last
/// position is the first one again.
///
/// A circle across the antimeridian is cut there into two rings (RFC 7946, 3.1.9).
struct CircleOutline {
  /// One ring, or two for a circle across the antimeridian. Longitude and latitude in degrees.
  let rings: [[(x: Double, y: Double)]]

  /// The number of corners. All lie on the circle, so the polygon has 0.5 % less area than it: n / 2π × sin(2π / n).
  static let corners = 36

  /// - Parameter radius: Metres; a radius that is not finite counts as 0.
  init(centre: Coordinate, radius: Double) {
    let ring = Self.ring(centre, radius.isFinite ? max(0, radius) : 0)
    let isOver = ring.contains { abs($0.x) > 180 }
    rings = isOver ? [Self.cut(ring, toEast: true), Self.cut(ring, toEast: false)].filter { $0.count > 3 } : [ring]
  }

  /// East and north parts of the unit vectors to the corners, counterclockwise from the east. Each circle uses
  /// the same ones.
  private static let directions: [(sin: Double, cos: Double)] = (0..<corners).map { corner in
    let angle = Double(corner) / Double(corners) * 2 * .pi
    return (sin(angle), cos(angle))
  }

  /// The ring around `centre` on the plane that touches the ellipsoid there, which is exact enough for radii of fences. Its
  /// longitudes go beyond 180 degrees where the circle does.
  private static func ring(_ centre: Coordinate, _ radius: Double) -> [(x: Double, y: Double)] {
    let (north, east) = centre.metresPerDegree
    var ring = directions.map { direction in
      (
        x: centre.longitude + radius * direction.cos / east,
        y: min(90, max(-90, centre.latitude + radius * direction.sin / north))
      )
    }
    ring.append(ring[0])
    return ring
  }

  /// The part of `ring` on one side of the antimeridian that it crosses, with its longitudes from -180 to 180. An edge across
  /// the line is cut on it, so that both parts have the same two positions there.
  private static func cut(_ ring: [(x: Double, y: Double)], toEast: Bool) -> [(x: Double, y: Double)] {
    // A ring around a centre west of the antimeridian crosses it at 180 degrees, any other ring at -180.
    let line = ring.contains { $0.x > 180 } ? 180.0 : -180.0
    let shift = toEast ? (line > 0 ? -360.0 : 0) : (line > 0 ? 0 : 360.0)
    func isKept(_ x: Double) -> Bool { toEast ? x >= line : x <= line }
    var part: [(x: Double, y: Double)] = []
    for (from, to) in zip(ring, ring.dropFirst()) {
      if isKept(from.x) { part.append(from) }
      if isKept(from.x) != isKept(to.x) {
        part.append((line, from.y + (to.y - from.y) * (line - from.x) / (to.x - from.x)))
      }
    }
    guard let first = part.first else { return [] }
    return (part + [first]).map { (min(180, max(-180, $0.x + shift)), $0.y) }
  }
}
