import Coverage

/// A small map as SVG, north up: circles to scale, with a scale bar.
struct SketchMap {
  /// The circles; a later one is drawn above an earlier one.
  let marks: [SketchMark]
  /// Places joined by a line, in order.
  var path: [Coordinate] = []
  /// Places with a text beside them.
  var labels: [(place: Coordinate, text: String)] = []
  /// The size in units of the `viewBox`.
  var size = (width: 240.0, height: 130.0)
  /// The least radius of a circle in these units.
  var leastRadius = 2.0
  let description: String

  /// - Parameter ground: Draws what is below the marks; `nil`: nothing.
  func svg(over ground: SketchGround? = nil) -> String {
    guard let frame = SketchFrame(marks, size: size) else { return "" }
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
