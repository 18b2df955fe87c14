import Coverage
import OrderedJSON

/// The title and the description of a fence in KML and GPX: `name`, and `description` or `desc`.
enum FenceTitle {
  /// E.g. `4G/LTE 31.7 ms`: the technology, then the mean round-trip time, `no answer`, or `no pings` when none was sent.
  static func short(_ fence: Fence) -> String {
    let delay = fence.meanRTTNanoseconds.map { milliseconds($0) }
    let without = fence.pings > 0 ? "no answer" : "no pings"
    return [(fence.technology ?? .none).name, delay ?? without].joined(separator: " ")
  }

  /// E.g. `mean 31.7 ms, 1 of 125 pings lost (0.8 %)`; `no pings` when none was sent. A fence that was not measured, and one that
  /// is never submitted, say so.
  static func long(_ fence: Fence) -> String {
    let marks =
      (fence.isMeasured ? [] : [Legend.notMeasured.label])
      + (fence.isSubmittable ? [] : [fence.isMeasured ? Legend.wifi : Legend.excluded])
    return ([pings(of: fence)] + marks).joined(separator: ", ")
  }

  private static func pings(of fence: Fence) -> String {
    guard fence.pings > 0 else { return "no pings" }
    let delay = fence.meanRTTNanoseconds.map { "mean \(milliseconds($0))" } ?? "no answer"
    let lost = fence.pingsLost
    return "\(delay), \(lost) of \(counted(fence.pings, "ping")) lost (\(percent(lost, of: fence.pings)))"
  }

  private static func milliseconds(_ nanoseconds: Int64) -> String { "\(JSON.tenths(nanoseconds, of: 1_000_000)) ms" }

  /// With one decimal, rounded half up; `whole` is above 0.
  private static func percent(_ part: Int, of whole: Int) -> String {
    let tenths = part.saturatingMultiplied(by: 1000).saturatingAdding(whole / 2) / whole
    return "\(tenths / 10).\(tenths % 10) %"
  }
}
