import Coverage
import Foundation

/// The plane on which a sketch is drawn: degrees around a place, exact enough for a picture (equirectangular).
enum Projection {
  /// How much shorter a degree of longitude is than one of latitude; at least 0.01, so that a map near a pole has a width.
  static func narrowing(at latitude: Double) -> Double { max(cos(latitude * .pi / 180), 0.01) }

  /// The longitude eastwards of another one, the shorter way round, also across the antimeridian: -180 to 180.
  static func degreesEast(of origin: Double, _ longitude: Double) -> Double { remainder(longitude - origin, 360) }
}

/// A small map as SVG, north up: circles to scale, with a scale bar.
struct SketchMap {
  /// A circle on the map.
  struct Mark {
    let place: Coordinate
    /// In metres.
    let radius: Double
    /// Its class in ``ReportStyle``.
    let look: String

    fileprivate var shownRadius: Double { min(max(radius, 1), 500) }
  }

  /// The circles; a later one is drawn above an earlier one.
  let marks: [Mark]
  /// Places joined by a line, in order.
  var path: [Coordinate] = []
  /// Places with a text beside them.
  var labels: [(place: Coordinate, text: String)] = []
  /// The size in units of the `viewBox`.
  var size = (width: 240.0, height: 130.0)
  /// The least radius of a circle in these units.
  var leastRadius = 2.0
  /// A description for readers who cannot see the drawing.
  let description: String

  /// How places lie on a drawing: all marks inside, with a margin of 3 % on each side.
  struct Frame {
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
    init?(_ marks: [Mark], size: (width: Double, height: Double)) {
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

    private static func metres(_ place: Coordinate, _ origin: Coordinate, _ narrowing: Double) -> (x: Double, y: Double)
    {
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

  /// The drawing.
  /// - Parameter ground: Draws what is below the marks; `nil`: nothing.
  func svg(over ground: SketchGround? = nil) -> String {
    guard let frame = Frame(marks, size: size) else { return "" }
    func text(_ at: (x: Double, y: Double)) -> (x: String, y: String) {
      (Markup.coordinate(at.x), Markup.coordinate(at.y))
    }
    let line = path.map { text(frame.place($0)) }.map { "\($0.x),\($0.y)" }.joined(separator: " ")
    let circles = marks.map { mark in
      let at = text(frame.place(mark.place))
      return "<circle class=\"\(mark.look)\" cx=\"\(at.x)\" cy=\"\(at.y)\""
        + " r=\"\(Markup.number(max(mark.shownRadius * frame.scale, leastRadius), 1))\"/>"
    }.joined()
    let names = Self.apart(labels.map { (frame.place($0.place), $0.text) }).map { label in
      let at = text(label.at)
      // Near the east edge the text ends before its mark, near the top it is below: else it would be cut off. A digit is 7 units wide.
      let side =
        label.at.x + 5 + 7 * Double(label.text.count) > size.width ? "dx=\"-5\" text-anchor=\"end\"" : "dx=\"5\""
      return
        "<text class=\"mark\" x=\"\(at.x)\" y=\"\(at.y)\" \(side) dy=\"\(label.at.y < 16 ? 12 : -4)\">\(Markup.escaped(label.text))</text>"
    }.joined()
    // The longest bar that is shorter than a third of the width.
    let lengths = [1_000_000.0, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5000, 2000, 1000, 500, 200, 100, 50]
    let bar = lengths.first { $0 * frame.scale < size.width / 3 } ?? 20
    let length = bar >= 2000 ? "\(Int(bar / 1000)) km" : "\(Int(bar)) m"
    let foot = Int(size.height) - 6
    return """
      <svg viewBox="0 0 \(Int(size.width)) \(Int(size.height))" role="img" aria-label="\(description)">
      \(ground?.svg(frame) ?? "")\(path.isEmpty ? "" : "<polyline points=\"\(line)\"/>")\(circles)\(names)
      <path class="bar" d="M6 \(foot)h\(Markup.number(bar * frame.scale, 1))"/><text x="6" y="\(foot - 5)">\(length)</text></svg>
      """
  }

  /// Labels that would hide each other become one, at the place of the first.
  private static func apart(_ labels: [(at: (x: Double, y: Double), text: String)])
    -> [(at: (x: Double, y: Double), text: String)]
  {
    labels.reduce(into: []) { apart, label in
      let near = apart.firstIndex { abs($0.at.x - label.at.x) < 12 && abs($0.at.y - label.at.y) < 12 }
      if let near { apart[near].text += ", \(label.text)" } else { apart.append(label) }
    }
  }

  /// The class in ``ReportStyle`` of pings. 120 ms is the limit that the legend of the page names.
  static func look(ofMean nanoseconds: Int64?) -> String { (nanoseconds ?? 0) >= 120_000_000 ? "slow" : "good" }
}
