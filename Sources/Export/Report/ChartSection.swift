import Coverage

/// The pictures of a report: the overview map, the distribution of the delay and the signal by technology, delay and loss over the
/// distance. All parts of a comparison have the same axes.
struct ChartSection {
  let report: Report
  let ground: SketchGround?

  /// The most links of a part with a chart of their own.
  private static let mostLinks = 4
  /// The height of charts that need less than others, so that the page has room for the links.
  private static let lowHeight = 160.0

  var html: String {
    // In a comparison, the same charts of both parts are side by side.
    let kinds: [(Report.Part) -> Figure?] = [overview, distribution, signal] + ways
    let figures = kinds.flatMap { kind in
      zip(report.heads, report.parts).compactMap { name, part in
        kind(part).map { svg, caption in
          let head = report.parts.count > 1 ? "<strong>\(Markup.escaped(name)):</strong> " : ""
          return "<figure>\(svg)<figcaption>\(head)\(caption)</figcaption></figure>"
        }
      }
    }
    guard !figures.isEmpty else { return "" }
    let more = report.parts.map { max(0, $0.figures.breakdown.links.rows.count - Self.mostLinks) }.max() ?? 0
    let rest =
      more > 0
      ? "<p>\(counted(more, "more link")): JSON has the distance of the first \(Breakdown.mostProfiles) (parts.way).</p>"
      : ""
    return """
      <h2>At a glance\(report.note(.charts))</h2>
      <div class="charts">\(figures.joined(separator: "\n"))</div>\(rest)
      """
  }

  /// A drawing with its caption.
  private typealias Figure = (svg: String, caption: String)

  private func overview(_ part: Report.Part) -> Figure? {
    let cells = part.figures.breakdown.overview.sorted
    let places = cells.map(\.place)
    guard let south = places.map(\.latitude).min(), let north = places.map(\.latitude).max() else { return nil }
    let svg = OverviewMap(cells: cells, worst: part.figures.stretches.worst).svg(over: ground)
    return (
      svg,
      """
      Overview, north up, \(Markup.number(south, 3))° to \(Markup.number(north, 3))° north. Green: answered with a mean below 120 ms; \
      orange: slower; dashed red: no answer; thin grey: not measured\(part.figures.breakdown.links.rows.count > 1 ? "; of several links, the worst" : ""). Numbers: the worst stretches, below.\(ground.map { " Ground: \(Markup.escaped($0.attribution))." } ?? "")
      """
    )
  }

  // MARK: Delay

  /// The technologies of a part that have delays.
  private func distributions(_ part: Report.Part) -> [(name: String, look: String, delays: Distribution)] {
    part.figures.breakdown.technologies.rows.filter { $0.group.delays.count > 0 }.map { name, group in
      (name, Self.look(name), group.delays)
    }
  }

  /// The class of the lines of a technology.
  private static func look(_ name: String) -> String {
    "t\(Reception.allCases.firstIndex { $0.name == name } ?? 0)"
  }

  /// The share of pings that were answered within a delay.
  private func distribution(_ part: Report.Part) -> Figure? {
    let curves = distributions(part)
    guard !curves.isEmpty else { return nil }
    let all = report.parts.flatMap(distributions)
    let low = all.compactMap { $0.delays.steps.first?.value }.min() ?? 1
    // The last half percent would make the rest narrow.
    let high = all.compactMap { $0.delays.steps.first { $0.share >= 0.995 }?.value }.max() ?? 1
    let medians = curves.map { name, _, delays in
      "\(name) \(Markup.milliseconds(delays.value(atPercentile: 50))) ms"
    }.joined(separator: ", ")
    var chart = Chart(
      "Distribution of the delay by technology", description: "Medians: \(medians).",
      x: .logarithmic("delay, ms (logarithmic)", from: Double(low) / 1000, to: Double(high) / 1000),
      y: .linear("% of answered pings", to: 100), height: report.parts.count > 1 ? 180 : 200)
    for (_, look, delays) in curves {
      var points = [(x: Double(delays.steps.first?.value ?? 0) / 1000, y: 0.0)]
      for step in delays.steps {
        // Steps of less than half a percent cannot be seen.
        let last = points.last?.y ?? 0
        if step.share * 100 - last >= 0.5 || step.share >= 1 {
          points.append((Double(step.value) / 1000, step.share * 100))
        }
      }
      chart.line(points, look: look)
    }
    return (
      chart.svg,
      "Delay by technology: share of answered pings up to a delay. Median: \(legend(curves.map { ($0.look, $0.name, Markup.milliseconds($0.delays.value(atPercentile: 50)) + " ms") }))"
    )
  }

  /// Names with a sample of their line.
  private func legend(_ entries: [(look: String, name: String, value: String)]) -> String {
    entries.map { look, name, value in
      """
      <span class="key"><svg class="sample" viewBox="0 0 22 8" aria-hidden="true"><path class="line \(look)" d="M1 4h20"/></svg> \
      \(Markup.escaped(name)) \(value)</span>
      """
    }.joined(separator: " ")
  }

  // MARK: Distance

  /// The links of a part that have a chart, with their distance.
  private func shown(_ part: Report.Part) -> [(link: String, profile: WayProfile)] {
    Array(part.figures.breakdown.ways.filter { $0.profile.metres > 0 }.prefix(Self.mostLinks))
  }

  /// Delay as a line, and loss as bars from below, over the distance of each link. In a comparison, all have the same axes and pieces.
  private var ways: [(Report.Part) -> Figure?] {
    let all = report.parts.flatMap(shown)
    let means = all.flatMap(\.profile.pieces).compactMap(\.meanMicroseconds).sorted()
    guard !means.isEmpty else { return [] }
    let high = Double(means[NearestRank.of(99, count: means.count) - 1]) / 1000
    let compared = report.parts.count > 1 ? all.map(\.profile) : []
    let links = all.map(\.link).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    return links.map { link in
      { part in
        guard var profile = shown(part).first(where: { $0.link == link })?.profile else { return nil }
        profile.coarsen(to: compared.map(\.length).max() ?? 0)
        return way(link, profile, to: (compared.map(\.metres).max() ?? profile.metres, high))
      }
    }
  }

  private func way(_ link: String, _ profile: WayProfile, to ends: (metres: Double, milliseconds: Double)) -> Figure {
    let kilometres = profile.metres / 1000
    let name = link == Breakdown.onlyLink ? "" : ", link \(link)"
    let losses = profile.pieces.compactMap(\.loss)
    var chart = Chart(
      "Delay and loss over the distance\(name)",
      description:
        "\(Markup.number(kilometres, 1)) km; pieces with a loss above 10 %: \(losses.count { $0 > 0.1 }) of \(losses.count).",
      x: .linear("distance, km", to: ends.metres / 1000), y: .linear("mean delay, ms", to: ends.milliseconds),
      height: Self.lowHeight)
    let length = profile.length / 1000
    let scale = chart.y.high
    for (index, piece) in profile.pieces.enumerated() {
      guard let loss = piece.loss, loss > 0 else { continue }
      let from = Double(index) * length
      chart.bar(
        from: from, to: min(from + length, chart.x.high), low: 0, high: max(loss, 0.005) * scale,
        look: piece.answered == 0 ? "silent" : "loss")
    }
    for start in profile.starts.dropFirst() {
      chart.rule(from: (start / 1000, 0), to: (start / 1000, scale), look: "start")
    }
    chart.line(
      // A piece can be shorter than the way from fence to fence: only one without an answer breaks the line.
      profile.pieces.enumerated().filter { $0.element.pings > 0 }.map { index, piece in
        piece.meanMicroseconds.map { ((Double(index) + 0.5) * length, Double($0) / 1000) }
      }, look: "delay")
    let drives =
      profile.starts.count > 1
      ? " Dashed verticals: the next drive begins\(profile.starts.count == WayProfile.mostStarts ? " (the first \(WayProfile.mostStarts - 1))" : "")."
      : ""
    return (
      chart.svg,
      """
      Delay and loss over the distance\(Markup.escaped(name)), in pieces of \(Markup.number(profile.length, 0)) m. Line: mean delay, cut off at the top. Red bars: loss, \
      the full height is 100 %; dark: no answer at all.\(drives)
      """
    )
  }

  // MARK: Signal

  /// The levels of each technology as a box.
  private func signal(_ part: Report.Part) -> Figure? {
    let boxes = part.figures.breakdown.signal.boxes
    guard !boxes.isEmpty else { return nil }
    let levels = report.parts.flatMap { $0.figures.breakdown.signal.boxes }.flatMap(\.levels)
    let low = ((levels.min() ?? -120) / 10).rounded(.down) * 10
    let high = max(((levels.max() ?? -60) / 10).rounded(.up) * 10, low + 10)
    let text = boxes.map { key, fences, levels in
      "\(key.reception.servingName) \(Self.name(key.quantity)) \(Markup.number(levels[2], 1)) dBm (\(fences))"
    }.joined(separator: ", ")
    let tickStep = high - low > 80 ? 20.0 : 10
    let count = Double(boxes.count)
    var chart = Chart(
      "Signal by technology", description: "Medians: \(text).",
      x: ChartAxis(
        title: "dBm", low: low, high: high,
        ticks: stride(from: (low / tickStep).rounded(.up) * tickStep, through: high, by: tickStep).map { $0 }),
      y: ChartAxis(title: "", low: 0, high: count, ticks: []), height: max(Self.lowHeight, 42 + 25 * count))
    (chart.frame.left, chart.frame.right) = (18, 382)
    for (index, box) in boxes.enumerated() {
      let middle = count - Double(index) - 0.6
      let look = Self.look(box.key.reception.name)
      chart.rule(from: (box.levels[0], middle), to: (box.levels[4], middle), look: "line \(look)")
      let half = min(0.22, count * 0.06)
      chart.bar(from: box.levels[1], to: box.levels[3], low: middle - half, high: middle + half, look: "box \(look)")
      chart.rule(from: (box.levels[2], middle - half), to: (box.levels[2], middle + half), look: "median")
      chart.text(
        "\(box.key.reception.servingName), \(Self.name(box.key.quantity))", at: (low, middle + half + 0.02), raised: 4)
    }
    return (
      chart.svg,
      "Signal by technology, of the fences' medians: box from the 25th to the 75th percentile, line from the 5th to the 95th, bar at the median. Medians, and fences: \(Markup.escaped(text))."
    )
  }

  private static func name(_ quantity: SignalQuantity) -> String {
    switch quantity {
    case .nrRSRP: "SS-RSRP"
    case .rsrp: "RSRP"
    case .rscp: "RSCP"
    default: "RSSI"
    }
  }
}
