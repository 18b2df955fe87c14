import Coverage
import Foundation

/// The plane on which a sketch is drawn: degrees around a place, exact enough for a picture (equirectangular).
enum Projection {
  /// How much shorter a degree of longitude is than one of latitude; at least 0.01, so that a map near a pole has a width.
  static func narrowing(at latitude: Double) -> Double { max(cos(latitude * .pi / 180), 0.01) }

  /// The longitude eastwards of another one, the shorter way round, also across the antimeridian: -180 to 180.
  static func degreesEast(of origin: Double, _ longitude: Double) -> Double { remainder(longitude - origin, 360) }
}

/// A circle on a sketch.
struct SketchMark {
  let place: Coordinate
  /// In metres.
  let radius: Double
  /// Its class in ``ReportStyle``.
  let look: String

  var shownRadius: Double { min(max(radius, 1), 500) }
}

/// How places lie on a drawing: all marks inside, with a margin of 3 % on each side.
struct SketchFrame {
  let size: (width: Double, height: Double)
  private let origin: Coordinate
  private let narrowing: Double
  /// Of the drawing, in metres east and south of the origin.
  private let middle: (x: Double, y: Double)
  /// Units a metre.
  let scale: Double

  /// Metres of a degree on a sphere with the Earth's mean radius, 6371008.8 m.
  private static let perDegree = 111_195.0
  /// The lowest units of a drawing, for the scale bar.
  private static let foot = 14.0

  /// - Returns: `nil` without a mark.
  init?(_ marks: [SketchMark], size: (width: Double, height: Double)) {
    guard let origin = marks.first?.place else { return nil }
    let latitudes = marks.map(\.place.latitude)
    let narrowing = Projection.narrowing(at: ((latitudes.min() ?? 0) + (latitudes.max() ?? 0)) / 2)
    (self.size, self.origin, self.narrowing) = (size, origin, narrowing)
    let points = marks.map { (at: Self.metres($0.place, origin, narrowing), radius: $0.shownRadius) }
    let left = points.map { $0.at.x - $0.radius }.min() ?? 0
    let right = points.map { $0.at.x + $0.radius }.max() ?? 0
    let top = points.map { $0.at.y - $0.radius }.min() ?? 0
    let bottom = points.map { $0.at.y + $0.radius }.max() ?? 0
    middle = ((left + right) / 2, (top + bottom) / 2)
    // At least 100 m × 50 m are shown, so that a device that stood still is no blot.
    scale = min(size.width / max(right - left, 100), (size.height - Self.foot) / max(bottom - top, 50)) * 0.94
  }

  private static func metres(_ place: Coordinate, _ origin: Coordinate, _ narrowing: Double) -> (x: Double, y: Double) {
    (
      Projection.degreesEast(of: origin.longitude, place.longitude) * perDegree * narrowing,
      (origin.latitude - place.latitude) * perDegree
    )
  }

  private func place(metresEast x: Double, south y: Double) -> (x: Double, y: Double) {
    ((x - middle.x) * scale + size.width / 2, (y - middle.y) * scale + (size.height - Self.foot) / 2)
  }

  /// Where a place is on the drawing, in units from its top left.
  func place(_ place: Coordinate) -> (x: Double, y: Double) {
    let at = Self.metres(place, origin, narrowing)
    return self.place(metresEast: at.x, south: at.y)
  }

  /// Where a point of a tile is, by its shares of the tile's width and height (Web Mercator).
  func place(_ tile: TilePlace, _ x: Double, _ y: Double) -> (x: Double, y: Double) {
    let side = Double(1 << tile.zoom)
    // From the middle of the tile, which is on the near side of the antimeridian.
    let middle = Projection.degreesEast(of: origin.longitude, (Double(tile.column) + 0.5) / side * 360 - 180)
    let latitude = atan(sinh((1 - 2 * (Double(tile.row) + y) / side) * .pi)) * 180 / .pi
    return place(
      metresEast: (middle + (x - 0.5) * 360 / side) * Self.perDegree * narrowing,
      south: (origin.latitude - latitude) * Self.perDegree)
  }

  /// The places at the top left and the bottom right.
  var corners: [Coordinate] {
    [(0, 0), (size.width, size.height)].compactMap { x, y in
      let east = ((x - size.width / 2) / scale + middle.x) / Self.perDegree / narrowing
      let south = ((y - (size.height - Self.foot) / 2) / scale + middle.y) / Self.perDegree
      return Coordinate(
        latitude: min(max(origin.latitude - south, -90), 90),
        longitude: remainder(origin.longitude + min(max(east, -180), 180), 360))
    }
  }
}
