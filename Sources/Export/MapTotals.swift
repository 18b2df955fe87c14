import Coverage

/// The totals of a map's fences.
struct MapTotals {
  private(set) var fences = 0
  private(set) var box = BoundingBox()
  /// The largest radius in metres.
  private(set) var radius = 0.0
  private var pings = 0
  private var answered = 0
  private var rttSumNanoseconds: Double = 0

  mutating func add(_ fence: Fence) {
    fences += 1
    box.add(fence.centre)
    radius = max(radius, fence.radius)
    // A damaged store can contain any number.
    pings = pings.saturatingAdding(fence.pings)
    answered = answered.saturatingAdding(fence.pingsAnswered)
    rttSumNanoseconds += Double(fence.rttSumNanoseconds)
  }

  var html: String {
    let mean = answered > 0 ? "\(Projection.rounded(rttSumNanoseconds / Double(answered) / 1e6)) ms" : "–"
    let loss = pings > 0 ? MapCircle.percent(pings - answered, of: pings) : "–"
    return [(pings == 1 ? "ping" : "pings", "\(pings)"), ("mean delay", mean), ("loss", loss)]
      .map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" }.joined()
  }
}
