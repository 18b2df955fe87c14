import Coverage
import Foundation

/// The plane on which a sketch is drawn: degrees around a place, exact enough for a picture (equirectangular).
enum Projection {
  /// How much shorter a degree of longitude is than one of latitude; at least 0.01, so that a map near a pole has a width.
  static func narrowing(at latitude: Double) -> Double { max(cos(latitude * .pi / 180), 0.01) }

  /// The longitude eastwards of another one, the shorter way round, also across the antimeridian: -180 to 180.
  static func degreesEast(of origin: Double, _ longitude: Double) -> Double { remainder(longitude - origin, 360) }
}

/// A small map as SVG, north up, without a base map: circles to scale, with a scale bar.
struct SketchMap {
  /// A circle on the map.
  struct Mark {
    let place: Coordinate
    /// In metres.
    let radius: Double
    /// Its class in ``ReportStyle``.
    let look: String
  }

  /// The circles; a later one is drawn above an earlier one.
  let marks: [Mark]
  /// Places joined by a line, in order.
  var path: [Coordinate] = []
  /// Places with a text beside them.
  var labels: [(place: Coordinate, text: String)] = []
  /// The size in units of the `viewBox`. The lowest 14 are for the scale bar.
  var size = (width: 240.0, height: 130.0)
  /// The least radius of a circle in these units.
  var leastRadius = 2.0
  /// A description for readers who cannot see the drawing.
  let description: String

  /// The drawing.
  var svg: String {
    guard let first = marks.first?.place else { return "" }
    // Metres of a degree on a sphere with the Earth's mean radius, 6371008.8 m.
    let perDegree = 111_195.0
    let middle = ((marks.map(\.place.latitude).min() ?? 0) + (marks.map(\.place.latitude).max() ?? 0)) / 2
    func plane(_ place: Coordinate) -> (x: Double, y: Double) {
      (
        Projection.degreesEast(of: first.longitude, place.longitude) * perDegree * Projection.narrowing(at: middle),
        (first.latitude - place.latitude) * perDegree
      )
    }
    let points = marks.map { mark in
      (at: plane(mark.place), radius: min(max(mark.radius, 1), 500), look: mark.look)
    }
    let left = points.map { $0.at.x - $0.radius }.min() ?? 0
    let right = points.map { $0.at.x + $0.radius }.max() ?? 0
    let top = points.map { $0.at.y - $0.radius }.min() ?? 0
    let bottom = points.map { $0.at.y + $0.radius }.max() ?? 0
    // Units a metre. At least 100 m × 50 m are shown, so that a device that stood still is no blot; 6 % are margin.
    let scale = min(size.width / max(right - left, 100), (size.height - 14) / max(bottom - top, 50)) * 0.94
    func place(_ at: (x: Double, y: Double)) -> (x: Double, y: Double) {
      (
        (at.x - (left + right) / 2) * scale + size.width / 2,
        (at.y - (top + bottom) / 2) * scale + (size.height - 14) / 2
      )
    }
    func text(_ at: (x: Double, y: Double)) -> (x: String, y: String) {
      (Markup.coordinate(place(at).x), Markup.coordinate(place(at).y))
    }
    let line = path.map { text(plane($0)) }.map { "\($0.x),\($0.y)" }.joined(separator: " ")
    let circles = points.map { point in
      let at = text(point.at)
      return "<circle class=\"\(point.look)\" cx=\"\(at.x)\" cy=\"\(at.y)\""
        + " r=\"\(Markup.number(max(point.radius * scale, leastRadius), 1))\"/>"
    }.joined()
    let names = Self.apart(labels.map { (plane($0.place), $0.text) }, by: 12 / scale).map { label in
      let (at, exact) = (text(label.at), place(label.at))
      // Near the east edge the text ends before its mark, near the top it is below: else it would be cut off. A digit is 7 units wide.
      let side = exact.x + 5 + 7 * Double(label.text.count) > size.width ? "dx=\"-5\" text-anchor=\"end\"" : "dx=\"5\""
      return
        "<text class=\"mark\" x=\"\(at.x)\" y=\"\(at.y)\" \(side) dy=\"\(exact.y < 16 ? 12 : -4)\">\(Markup.escaped(label.text))</text>"
    }.joined()
    // The longest bar that is shorter than a third of the width.
    let lengths = [1_000_000.0, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5000, 2000, 1000, 500, 200, 100, 50]
    let bar = lengths.first { $0 * scale < size.width / 3 } ?? 20
    let length = bar >= 2000 ? "\(Int(bar / 1000)) km" : "\(Int(bar)) m"
    let foot = Int(size.height) - 6
    return """
      <svg viewBox="0 0 \(Int(size.width)) \(Int(size.height))" role="img" aria-label="\(description)">
      \(path.isEmpty ? "" : "<polyline points=\"\(line)\"/>")\(circles)\(names)
      <path class="bar" d="M6 \(foot)h\(Markup.number(bar * scale, 1))"/><text x="6" y="\(foot - 5)">\(length)</text></svg>
      """
  }

  /// Labels that would hide each other become one, at the place of the first.
  private static func apart(_ labels: [(at: (x: Double, y: Double), text: String)], by metres: Double)
    -> [(at: (x: Double, y: Double), text: String)]
  {
    labels.reduce(into: []) { apart, label in
      let near = apart.firstIndex { abs($0.at.x - label.at.x) < metres && abs($0.at.y - label.at.y) < metres }
      if let near { apart[near].text += ", \(label.text)" } else { apart.append(label) }
    }
  }

  /// The class in ``ReportStyle`` of pings. 120 ms is the limit that the legend of the page names.
  static func look(ofMean nanoseconds: Int64?) -> String { (nanoseconds ?? 0) >= 120_000_000 ? "slow" : "good" }
}
