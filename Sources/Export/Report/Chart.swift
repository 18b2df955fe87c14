import Coverage
import Foundation

/// An axis of a chart: a range of values with ticks, linear or logarithmic.
struct ChartAxis {
  /// The name with its unit.
  let title: String
  let low: Double
  let high: Double
  var isLogarithmic = false
  let ticks: [Double]

  /// From 0 to `high`, or a little above, with about five ticks at 1, 2 or 5 times a power of ten.
  static func linear(_ title: String, to high: Double) -> ChartAxis {
    let high = high.isFinite && high > 1e-6 ? min(high, 1e12) : 1
    let rough = high / 5
    let power = pow(10, log10(rough).rounded(.down))
    let step = ([1, 2, 5, 10].first { $0 * power >= rough } ?? 10) * power
    let count = Int((high / step).rounded(.up))
    return ChartAxis(
      title: title, low: 0, high: step * Double(count), ticks: (0...count).map { Double($0) * step })
  }

  /// A logarithmic axis of positive values, with ticks at 1, 2 and 5 times the powers of ten within the range.
  static func logarithmic(_ title: String, from low: Double, to high: Double) -> ChartAxis {
    var (low, high) = (max(low, 0.001), max(high, low * 2, 0.002))
    let ticks = (-3...9).flatMap { power in [1.0, 2, 5].map { $0 * pow(10, Double(power)) } }
    if ticks.count(where: { (low...high).contains($0) }) < 2 {
      (low, high) = (ticks.last { $0 <= low } ?? low, ticks.first { $0 >= high } ?? high)
    }
    return ChartAxis(
      title: title, low: low, high: high, isLogarithmic: true, ticks: ticks.filter { (low...high).contains($0) })
  }

  /// The place of a value between the ends, 0 to 1.
  func position(_ value: Double) -> Double {
    let share =
      isLogarithmic ? log(max(value, low) / low) / log(high / low) : (value - low) / (high - low)
    return min(max(share, 0), 1)
  }

  /// A tick as text, with the decimals of the step from tick to tick; a logarithmic axis has its own for each tick.
  func text(_ tick: Double) -> String {
    let step = isLogarithmic || ticks.count < 2 ? abs(tick) : ticks[1] - ticks[0]
    let places = step > 0 ? -(log10(step) + 1e-9).rounded(.down) : 0
    return Markup.number(tick, Int(min(max(places, 0), 9)))
  }
}

/// A chart as inline SVG: axes, and shapes in the units of their values. It needs no script; the colours are those of ``ReportStyle``.
struct Chart {
  let title: String
  /// What the chart shows, with its figures, for readers who cannot see it.
  let description: String
  let x: ChartAxis
  let y: ChartAxis
  /// The frame of the shapes in units of the `viewBox`.
  var frame: (left: Double, top: Double, right: Double, bottom: Double)
  /// Of the whole drawing, which is 400 wide.
  private let height: Double
  private var shapes: [String] = []

  init(_ title: String, description: String, x: ChartAxis, y: ChartAxis, height: Double = 200) {
    (self.title, self.description, self.x, self.y, self.height) = (title, description, x, y, height)
    // The numbers of long ticks must not meet the axis' title.
    let left = max(38, 20 + 6 * Double(y.ticks.map { y.text($0).count }.max() ?? 0))
    frame = (left, 8, 392, height - 34)
  }

  private func across(_ value: Double) -> Double { frame.left + x.position(value) * (frame.right - frame.left) }
  private func down(_ value: Double) -> Double { frame.bottom - y.position(value) * (frame.bottom - frame.top) }

  /// A line through points, broken where there is none.
  mutating func line(_ points: [(x: Double, y: Double)?], look: String) {
    var (path, isDown) = ("", false)
    for point in points {
      guard let point else {
        isDown = false
        continue
      }
      path += "\(isDown ? "L" : "M")\(Markup.coordinate(across(point.x))) \(Markup.coordinate(down(point.y)))"
      // A piece of one point is a dot.
      if !isDown { path += "h.1" }
      isDown = true
    }
    shapes.append("<path class=\"line \(look)\" d=\"\(path)\"/>")
  }

  mutating func bar(from left: Double, to right: Double, low: Double, high: Double, look: String) {
    let width = max(across(right) - across(left), 0.5)
    let height = max(down(low) - down(high), 0)
    shapes.append(
      """
      <rect class="\(look)" x="\(Markup.coordinate(across(left)))" y="\(Markup.coordinate(down(high)))" \
      width="\(Markup.coordinate(width))" height="\(Markup.coordinate(height))"/>
      """)
  }

  mutating func rule(from: (x: Double, y: Double), to: (x: Double, y: Double), look: String) {
    shapes.append(
      """
      <path class="\(look)" d="M\(Markup.coordinate(across(from.x))) \(Markup.coordinate(down(from.y)))\
      L\(Markup.coordinate(across(to.x))) \(Markup.coordinate(down(to.y)))"/>
      """)
  }

  /// A text that begins at a point, `raised` units above it.
  mutating func text(_ text: String, at point: (x: Double, y: Double), raised: Double) {
    let (x, y) = (Markup.coordinate(across(point.x)), Markup.coordinate(down(point.y) - raised))
    shapes.append("<text x=\"\(x)\" y=\"\(y)\">\(Markup.escaped(text))</text>")
  }

  var svg: String {
    let columns = x.ticks.map { tick in
      let at = Markup.coordinate(across(tick))
      return """
        <path class="grid" d="M\(at) \(Markup.coordinate(frame.top))V\(Markup.coordinate(frame.bottom))"/>\
        <text x="\(at)" y="\(Markup.coordinate(frame.bottom + 12))" text-anchor="middle">\(x.text(tick))</text>
        """
    }.joined()
    let rows = y.ticks.map { tick in
      let at = Markup.coordinate(down(tick))
      return """
        <path class="grid" d="M\(Markup.coordinate(frame.left)) \(at)H\(Markup.coordinate(frame.right))"/>\
        <text x="\(Markup.coordinate(frame.left - 4))" y="\(at)" dy="3" text-anchor="end">\(y.text(tick))</text>
        """
    }.joined()
    let middle = Markup.coordinate((frame.top + frame.bottom) / 2)
    return """
      <svg class="chart" viewBox="0 0 400 \(Int(height))" role="img" aria-label="\(Markup.escaped(title))">
      <title>\(Markup.escaped(title))</title><desc>\(Markup.escaped(description))</desc>
      \(columns)\(rows)\(shapes.joined())
      <text x="\(Markup.coordinate(frame.right))" y="\(Markup.coordinate(frame.bottom + 27))" text-anchor="end">\(Markup.escaped(x.title))</text>
      <text x="9" y="\(middle)" text-anchor="middle" transform="rotate(-90 9 \(middle))">\(Markup.escaped(y.title))</text></svg>
      """
  }
}
