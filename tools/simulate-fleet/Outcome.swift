/// The result of a simulation. Times are in milliseconds.
struct Outcome: Sendable {
  /// When each device had delivered.
  var delivered: [Int] = []
  /// 429 that each device got.
  var refusals: [Int]
  /// Requests in each second.
  var requests: [Int] = []
  let devices: Int

  /// When this share of the fleet had delivered, in seconds; `nil`: never.
  func time(of share: Double) -> Double? {
    let index = Int((Double(devices) * share).rounded(.up)) - 1
    return delivered.indices.contains(index) ? Double(delivered[index]) / 1000 : nil
  }

  var meanRefusals: Double { Double(refusals.reduce(0, +)) / Double(devices) }
  var mostRefusals: Int { refusals.max() ?? 0 }
  var peak: Int { requests.max() ?? 0 }
}
