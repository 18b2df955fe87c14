import Coverage
import Foundation

/// The meridian of 180 degrees, where longitudes jump. Lines and areas across it are cut there in every output (RFC 7946,
/// 3.1.9): a reader that joins both sides would draw them around the Earth.
enum Antimeridian {
  /// A position as exports write it: degrees east and north.
  typealias Position = (x: Double, y: Double)

  /// Where the line between two places crosses it.
  struct Crossing {
    /// The share of the line before it, 0 to 1.
    let share: Double
    /// The crossing on the side of the first place, at 180 or -180 degrees, and the same place on the other side.
    let exit: Coordinate
    let entry: Coordinate
  }

  /// The crossing of the line from one place to another, the shorter way round; `nil` if it stays on one side.
  static func crossing(from: Coordinate, to: Coordinate) -> Crossing? {
    guard abs(to.longitude - from.longitude) > 180 else { return nil }
    let side = from.longitude < 0 ? -180.0 : 180.0
    // Both above 0 or both below.
    let (before, after) = (side - from.longitude, to.longitude + side)
    let share = before + after == 0 ? 0 : min(1, max(0, before / (before + after)))
    let latitude = from.latitude + (to.latitude - from.latitude) * share
    guard let exit = Coordinate(latitude: latitude, longitude: side),
      let entry = Coordinate(latitude: latitude, longitude: -side)
    else { return nil }
    return Crossing(share: share, exit: exit, entry: entry)
  }

  /// A ring in longitudes from -180 to 180: itself, its two halves, or, around a pole, the ring from the antimeridian to the
  /// antimeridian that has the pole as its other edge.
  /// - Parameter ring: Closed, and counterclockwise seen from above; no edge is longer than half a turn.
  static func rings(of ring: [Position]) -> (rings: [[Position]], isAroundPole: Bool) {
    let ring = unwound(ring)
    guard let first = ring.first, let last = ring.last else { return ([], false) }
    if abs(last.x - first.x) > 180 { return ([aroundPole(ring)], true) }
    guard let over = ring.first(where: { abs($0.x) > 180 }) else { return ([ring], false) }
    let line = over.x > 0 ? 180.0 : -180.0
    return ([cut(ring, at: line, toEast: true), cut(ring, at: line, toEast: false)].filter { $0.count > 3 }, false)
  }

  /// The ring with longitudes that do not jump: they go beyond 180 degrees, around a pole by a whole turn.
  private static func unwound(_ ring: [Position]) -> [Position] {
    ring.reduce(into: []) { unwound, corner in
      guard let last = unwound.last else { return unwound.append(corner) }
      unwound.append((last.x + remainder(corner.x - last.x, 360), corner.y))
    }
  }

  /// The part of `ring` on one side of a line that it crosses, with its longitudes from -180 to 180. An edge across the line is
  /// cut on it, so that both parts have the same two positions there.
  private static func cut(_ ring: [Position], at line: Double, toEast: Bool) -> [Position] {
    let shift = toEast ? (line > 0 ? -360.0 : 0) : (line > 0 ? 0 : 360.0)
    func isKept(_ x: Double) -> Bool { toEast ? x >= line : x <= line }
    var part: [Position] = []
    for (from, to) in zip(ring, ring.dropFirst()) {
      if isKept(from.x) { part.append(from) }
      if isKept(from.x) != isKept(to.x) { part.append((line, latitude(at: line, from, to))) }
    }
    guard let first = part.first else { return [] }
    return (part + [first]).map { (min(180, max(-180, $0.x + shift)), $0.y) }
  }

  /// - Parameter ring: Unwound. It runs eastwards around the north pole, and westwards around the south pole.
  private static func aroundPole(_ ring: [Position]) -> [Position] {
    let turn = ring[ring.count - 1].x > ring[0].x ? 360.0 : -360.0
    let corners = Array(ring.dropLast())
    // The first antimeridian on the way round, and the corners before it, one turn later.
    let line =
      turn > 0
      ? ((ring[0].x + 180) / 360).rounded(.up) * 360 - 180 : ((ring[0].x + 180) / 360).rounded(.down) * 360 - 180
    let isBefore = { (corner: Position) in turn > 0 ? corner.x < line : corner.x > line }
    let (behind, before) = (corners.filter { !isBefore($0) }, corners.filter(isBefore))
    let whole = behind + before.map { (x: $0.x + turn, y: $0.y) }
    guard let first = whole.first, let last = whole.last else { return ring }
    let edge = latitude(at: line, (last.x - turn, last.y), first)
    let (start, pole) = (turn > 0 ? -180.0 : 180.0, turn > 0 ? 90.0 : -90.0)
    let around = whole.map { (x: min(180, max(-180, $0.x - line + start)), y: $0.y) }
    return [(start, edge)] + around + [(-start, edge), (-start, pole), (start, pole), (start, edge)]
  }

  private static func latitude(at line: Double, _ from: Position, _ to: Position) -> Double {
    from.x == to.x ? from.y : from.y + (to.y - from.y) * (line - from.x) / (to.x - from.x)
  }
}
