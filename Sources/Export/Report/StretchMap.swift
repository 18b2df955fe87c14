import Coverage
import Foundation

/// A small map of a stretch as SVG, north up, without a base map: its fences as circles to scale, joined by the way between
/// them, with a scale bar.
struct StretchMap {
  let stretch: Stretch

  /// The size of the drawing in units of its `viewBox`. The lowest 14 are for the scale bar.
  private static let size = (width: 240.0, height: 130.0)

  /// The drawing. Positions are projected on a plane around the first centre (equirectangular): exact enough for half a
  /// kilometre.
  var svg: String {
    guard let first = stretch.fences.first?.centre else { return "" }
    // Metres of a degree on a sphere with the Earth's mean radius, 6371008.8 m.
    let perDegree = 111_195.0
    let points = stretch.fences.map { fence in
      // The shorter way round, also across the antimeridian.
      let east = remainder(fence.centre.longitude - first.longitude, 360)
      return (
        x: east * perDegree * cos(first.latitude * .pi / 180), y: (first.latitude - fence.centre.latitude) * perDegree,
        radius: min(max(fence.radius, 1), 500), fence: fence
      )
    }
    let left = points.map { $0.x - $0.radius }.min() ?? 0
    let right = points.map { $0.x + $0.radius }.max() ?? 0
    let top = points.map { $0.y - $0.radius }.min() ?? 0
    let bottom = points.map { $0.y + $0.radius }.max() ?? 0
    // Units a metre. At least 100 m × 50 m are shown, so that a device that stood still is no blot; 6 % are margin.
    let scale = min(Self.size.width / max(right - left, 100), (Self.size.height - 14) / max(bottom - top, 50)) * 0.94
    func x(_ value: Double) -> String {
      Markup.number((value - (left + right) / 2) * scale + Self.size.width / 2, 1).ascii
    }
    func y(_ value: Double) -> String {
      Markup.number((value - (top + bottom) / 2) * scale + (Self.size.height - 14) / 2, 1).ascii
    }
    let way = points.map { "\(x($0.x)),\(y($0.y))" }.joined(separator: " ")
    let circles = points.map { point in
      "<circle class=\"\(Self.look(point.fence))\" cx=\"\(x(point.x))\" cy=\"\(y(point.y))\""
        + " r=\"\(Markup.number(max(point.radius * scale, 2), 1))\"/>"
    }.joined()
    // The longest bar that is shorter than a third of the width.
    let bar = [1000.0, 500, 200, 100, 50].first { $0 * scale < Self.size.width / 3 } ?? 20
    return """
      <svg viewBox="0 0 \(Int(Self.size.width)) \(Int(Self.size.height))" role="img" aria-label="\(label)">
      <polyline points="\(way)"/>\(circles)
      <path class="bar" d="M6 124h\(Markup.number(bar * scale, 1))"/><text x="6" y="119">\(Int(bar)) m</text></svg>
      """
  }

  /// A description for readers who cannot see the drawing.
  private var label: String {
    let silent = stretch.fences.count { Reception($0) == .noAnswer }
    return "Map of \(counted(stretch.fences.count, "fence")), north up; \(silent) of them without an answer."
  }

  /// The class in ``ReportStyle``. 120 ms is the limit that the legend of the page names.
  private static func look(_ fence: Fence) -> String {
    switch Reception(fence) {
    case .noAnswer: "lost"
    case .notMeasured: "none"
    default: (fence.meanRTTNanoseconds ?? 0) >= 120_000_000 ? "slow" : "good"
    }
  }
}

extension String {
  /// For attributes, which have no typographic minus.
  fileprivate var ascii: String { replacingOccurrences(of: "−", with: "-") }
}
