import Coverage

/// What maps of other programs show of a fence in words.
enum FenceTitle {
  /// E.g. `4G/LTE 31.7 ms`.
  static func short(_ fence: Fence) -> String {
    let delay = fence.meanRTTNanoseconds.map { "\(MapCircle.milliseconds($0))" }
    return [(fence.technology ?? .none).name, delay ?? "no answer"].joined(separator: " ")
  }

  /// E.g. `mean 31.7 ms, 1 of 125 pings lost (0.8 %)`.
  static func long(_ fence: Fence) -> String {
    let delay = fence.meanRTTNanoseconds.map { "mean \(MapCircle.milliseconds($0))" } ?? "no answer"
    guard fence.pings > 0 else { return "no pings" }
    let lost = fence.pings - fence.pingsAnswered
    return "\(delay), \(lost) of \(counted(fence.pings, "ping")) lost (\(MapCircle.percent(lost, of: fence.pings)))"
  }
}
