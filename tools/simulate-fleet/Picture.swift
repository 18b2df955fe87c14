import Foundation

/// Deliveries and requests over time, as SVG.
struct Picture {
  private let outcomes: [(Behaviour, Outcome)]
  private let rate: Int
  private let seconds: Int
  private static let colours = ["#0072b2", "#e69f00", "#999999"]
  private static let (width, height, left, top, gap) = (720.0, 190.0, 60.0, 30.0, 60.0)

  init(_ outcomes: [(Behaviour, Outcome)], rate: Int) {
    self.outcomes = outcomes
    self.rate = rate
    let longest = outcomes.compactMap { $0.1.time(of: 0.999) }.max() ?? 600
    seconds = min(Int(longest / 60 + 1) * 60, Fleet.horizon)
  }

  var svg: String {
    let peak = Double(outcomes.map(\.1.peak).max() ?? 1)
    let lower = Self.top + Self.height + Self.gap
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 \(Int(lower + Self.height + 50))" \
      font-family="sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="white"/>
      """,
      frame(at: Self.top, "delivered, % of the fleet", ["0", "50", "100"]),
      frame(at: lower, "requests a second (logarithmic)", ["1", "", "\(Int(peak))"]),
      level(at: lower, Self.logarithm(Double(rate), peak), "the server takes \(rate)"),
    ]
    // The first one on top.
    for (index, (behaviour, outcome)) in outcomes.enumerated().reversed() {
      let colour = Self.colours[index % Self.colours.count]
      parts.append(line(at: Self.top, colour, deliveredShares(outcome)))
      parts.append(
        line(at: lower, colour, outcome.requests.prefix(seconds).map { Self.logarithm(Double($0), peak) }))
      let y = Self.top + 20 + Double(index) * 16 + 90
      parts.append("<text x=\"\(Self.left + 480)\" y=\"\(y)\" fill=\"\(colour)\">\(behaviour.name)</text>")
    }
    return (parts + ["</svg>", ""]).joined(separator: "\n")
  }

  private func deliveredShares(_ outcome: Outcome) -> [Double] {
    var delivered = 0
    return (0..<seconds).map { second in
      while delivered < outcome.delivered.count, outcome.delivered[delivered] < (second + 1) * 1000 { delivered += 1 }
      return Double(delivered) / Double(outcome.devices)
    }
  }

  private static func logarithm(_ value: Double, _ peak: Double) -> Double {
    value < 1 || peak <= 1 ? 0 : log(value) / log(peak)
  }

  private func line(at top: Double, _ colour: String, _ shares: [Double]) -> String {
    let points = shares.enumerated().map { second, share in
      let x = Self.left + Double(second) / Double(seconds) * Self.width
      return String(format: "%.1f,%.1f", x, top + Self.height * (1 - share))
    }
    return
      "<polyline fill=\"none\" stroke=\"\(colour)\" stroke-width=\"1.5\" points=\"\(points.joined(separator: " "))\"/>"
  }

  private func level(at top: Double, _ share: Double, _ name: String) -> String {
    let y = top + Self.height * (1 - share)
    return """
      <line x1="\(Self.left)" x2="\(Self.left + Self.width)" y1="\(y)" y2="\(y)" stroke="#c00" stroke-dasharray="4"/>
      <text x="\(Self.left + Self.width)" y="\(y - 4)" text-anchor="end" fill="#c00">\(name)</text>
      """
  }

  private func frame(at top: Double, _ title: String, _ labels: [String]) -> String {
    var parts = [
      "<text x=\"\(Self.left)\" y=\"\(top - 8)\">\(title)</text>",
      """
      <rect x="\(Self.left)" y="\(top)" width="\(Self.width)" height="\(Self.height)" fill="none" stroke="#ccc"/>
      """,
    ]
    for (index, label) in labels.enumerated() {
      let y = top + Self.height * (1 - Double(index) / 2) + 4
      parts.append("<text x=\"\(Self.left - 6)\" y=\"\(y)\" text-anchor=\"end\">\(label)</text>")
    }
    for quarter in 0...4 {
      let x = Self.left + Self.width * Double(quarter) / 4
      parts.append(
        "<text x=\"\(x)\" y=\"\(top + Self.height + 16)\" text-anchor=\"middle\">\(seconds * quarter / 4) s</text>")
    }
    return parts.joined(separator: "\n")
  }
}
