import Coverage
import OrderedJSON
import Store

/// A record as formats with features of their own write it, beside the values of its columns.
protocol Feature {
  /// The type in GPX; in KML it names the schema and begins the identifiers.
  static var kind: String { get }
  var id: Int64 { get }
  /// Where it is; a record without a place has no geometry in GeoJSON, and is left out elsewhere.
  var place: Coordinate? { get }
  /// Metres.
  var altitude: Double? { get }
  var radius: Double? { get }
  var span: (from: WallTime?, to: WallTime?) { get }
  var title: (short: String, long: String) { get }
  /// The identifier of its style in KML.
  var style: String { get }
}

extension Feature {
  /// Its circle on the ground, if it has one and is drawn so.
  func circle(_ shape: FenceShape) -> CircleOutline? {
    guard shape == .circle, let place, let radius else { return nil }
    return CircleOutline(centre: place, radius: radius)
  }
}

extension FenceRecord: Feature {
  static let kind = "fence"
  var place: Coordinate? { fence.centre }
  var altitude: Double? { fence.fix.altitude }
  var radius: Double? { fence.radius }
  var span: (from: WallTime?, to: WallTime?) { (enteredAt, exitedAt) }
  var title: (short: String, long: String) { (FenceTitle.short(fence), FenceTitle.long(fence)) }
  var style: String { Legend.entry(of: fence).name + (fence.isSubmittable ? "" : Legend.wifiSuffix) }

  /// Its session, with the link and the test.
  var folder: (session: Int64?, name: String, description: String?) {
    (
      stored?.id,
      ["Session \(stored?.id ?? 0)", link].compactMap { $0 }.joined(separator: ", "),
      session.testUUID.map { "test \($0)" }
    )
  }
}

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
