import Coverage

/// A self-contained page with the fences as circles on the ground, to scale, coloured by technology, delay or loss. No tiles,
/// no network: what is on the page is all that was measured.
struct MapPage {
  private let records: [FenceRecord]

  init(_ records: [FenceRecord]) {
    self.records = records
  }

  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Coverage drive: \(records.count) fences</title>
    <style>\(Self.style)</style>
    </head>
    <body class="technology">
    <header>
    <h1>\(records.count) fences</h1>
    <dl>\(summary)</dl>
    <nav>
    <button data-view="technology">Technology</button>
    <button data-view="delay">Delay</button>
    <button data-view="loss">Loss</button>
    </nav>
    </header>
    \(map)
    <footer>
    \(Legend.html)
    </footer>
    <script>\(Self.script)</script>
    </body>
    </html>

    """
  }

  // MARK: Figures

  private var summary: String {
    let pings = records.reduce(0) { $0.saturatingAdding($1.fence.pings) }
    let answered = records.reduce(0) { $0.saturatingAdding($1.fence.pingsAnswered) }
    let rtt = records.reduce(Int64(0)) { $0.saturatingAdding($1.fence.rttSumNanoseconds) }
    let mean = answered > 0 ? Self.milliseconds(rtt / Int64(answered)) : "–"
    let loss = pings > 0 ? Self.percent(pings - answered, of: pings) : "–"
    return [("pings", "\(pings)"), ("mean delay", mean), ("loss", loss)]
      .map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" }.joined()
  }

  // MARK: Map

  private var map: String {
    guard let projection = Projection(records.map(\.fence)) else { return "<p>There is no fence to show.</p>" }
    let centres = records.map { projection.point($0.fence.centre) }
    let circles = zip(records, centres).map { Self.circle($0, at: $1) }.joined(separator: "\n")
    return """
      <svg viewBox="0 0 \(projection.width) \(projection.height)" role="img" aria-label="Map of the fences">
      \(track(centres))
      \(circles)
      \(projection.scaleBar)
      </svg>
      """
  }

  /// The way from fence to fence, broken where it is not known: where the next one lies further away than four radii (spec 2.13).
  private func track(_ centres: [Projection.Point]) -> String {
    let fences = records.map(\.fence)
    var stretches: [[String]] = [[]]
    for (index, point) in centres.enumerated() {
      if index > 0, fences[index - 1].centre.distance(to: fences[index].centre) > 4 * fences[index - 1].radius {
        stretches.append([])
      }
      stretches[stretches.count - 1].append("\(point.x),\(point.y)")
    }
    return stretches.map { "<polyline class=\"track\" points=\"\($0.joined(separator: " "))\"/>" }.joined(
      separator: "\n")
  }

  private static func circle(_ record: FenceRecord, at point: Projection.Point) -> String {
    let fence = record.fence
    let classes = [
      Legend.technology(of: fence).name, Legend.delay(of: fence).name, Legend.loss(of: fence).name,
      fence.isSubmittable ? "" : "wifi",
    ]
    return """
      <circle class="\(classes.filter { !$0.isEmpty }.joined(separator: " "))" \
      cx="\(point.x)" cy="\(point.y)" r="\(Projection.rounded(fence.radius))"><title>\(tooltip(record))</title></circle>
      """
  }

  private static func tooltip(_ record: FenceRecord) -> String {
    let fence = record.fence
    var lines = ["fence \(fence.number + 1), radius \(Projection.rounded(fence.radius)) m"]
    if case .store(let started, _) = record.origin { lines.append((started + fence.entered).iso8601) }
    if let duration = fence.duration { lines.append("\(Projection.rounded(duration.inSeconds)) s") }
    lines.append(escaped((fence.technology ?? .none).name))
    lines.append(fence.meanRTTNanoseconds.map { "mean \(milliseconds($0))" } ?? "no answer")
    if fence.pings > 0 {
      let lost = fence.pings - fence.pingsAnswered
      lines.append("\(lost) of \(fence.pings) pings lost (\(percent(lost, of: fence.pings)))")
    }
    if !fence.isSubmittable { lines.append("touched by Wi-Fi: not submitted") }
    return lines.joined(separator: "\n")
  }

  private static func milliseconds(_ nanoseconds: Int64) -> String {
    let tenths = nanoseconds.saturatingAdding(50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10) ms"
  }

  private static func percent(_ part: Int, of whole: Int) -> String {
    let tenths = part.saturatingMultiplied(by: 1000).saturatingAdding(whole / 2) / whole
    return "\(tenths / 10).\(tenths % 10) %"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  // MARK: Looks

  private static let style = """
    :root { font-family: system-ui, sans-serif; color: #222; background: #fafafa; }
    body { margin: 0 auto; max-width: 72rem; padding: 1rem; }
    header { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: baseline; }
    h1 { font-size: 1.3rem; margin: 0; }
    dl { display: flex; gap: .4rem; margin: 0; } dt { color: #666; } dd { margin: 0 1rem 0 0; font-weight: 600; }
    button { font: inherit; padding: .2rem .8rem; border: 1px solid #bbb; border-radius: .3rem; background: #fff; }
    .technology [data-view=technology], .delay [data-view=delay], .loss [data-view=loss] { background: #222; color: #fff; }
    svg { width: 100%; max-height: 80vh; background: #fff; border: 1px solid #ddd; margin: 1rem 0; }
    circle { fill-opacity: .55; stroke: #333; stroke-opacity: .5; stroke-width: 1; vector-effect: non-scaling-stroke; }
    circle:hover { stroke-opacity: 1; stroke-width: 2; }
    circle.wifi { stroke-dasharray: 3 3; }
    .track { fill: none; stroke: #888; stroke-width: 1; vector-effect: non-scaling-stroke; }
    .scale { stroke: #222; stroke-width: 2; vector-effect: non-scaling-stroke; }
    .legend { display: none; gap: .4rem 1.2rem; flex-wrap: wrap; list-style: none; padding: 0; }
    .legend i { display: inline-block; width: .9em; height: .9em; border-radius: 50%; margin-right: .4em; \
    border: 1px solid #555; }
    .technology .legend.technology, .delay .legend.delay, .loss .legend.loss { display: flex; }
    \(Legend.style)
    """

  private static let script = """
    for (const button of document.querySelectorAll('button'))
      button.onclick = () => { document.body.className = button.dataset.view };
    """
}
