import Coverage

/// A fence on the map.
enum MapCircle {
  static func html(_ record: FenceRecord, at point: Projection.Point) -> String {
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
    if let radio = fence.radio { lines += radioLines(radio, of: fence.technology) }
    lines.append(fence.meanRTTNanoseconds.map { "mean \(milliseconds($0))" } ?? "no answer")
    if fence.pings > 0 {
      let lost = fence.pings - fence.pingsAnswered
      lines.append("\(lost) of \(counted(fence.pings, "ping")) lost (\(percent(lost, of: fence.pings)))")
    }
    if !fence.isSubmittable { lines.append("touched by Wi-Fi: not submitted") }
    return lines.joined(separator: "\n")
  }

  private static func radioLines(_ radio: FenceRadio, of technology: Technology?) -> [String] {
    let level = radio.minimumLevel(of: technology).map { ["signal at least \(Projection.rounded($0)) dBm"] } ?? []
    let changes = radio.cellChanges > 0 ? ["\(counted(radio.cellChanges, "change")) of cell"] : []
    return [radio.operatorName ?? radio.operatorCode].compactMap { $0 }.map(escaped) + level + changes
  }

  static func milliseconds(_ nanoseconds: Int64) -> String {
    let tenths = nanoseconds.saturatingAdding(50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10) ms"
  }

  static func percent(_ part: Int, of whole: Int) -> String {
    let tenths = part.saturatingMultiplied(by: 1000).saturatingAdding(whole / 2) / whole
    return "\(tenths / 10).\(tenths % 10) %"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
