import Coverage

/// The times without an accurate position: pings that were sent then belong to no fence (docs/algorithm.md, 4).
struct InaccurateWindows {
  /// In order. The last one can be open: it ends with time.
  private(set) var ranges: [Range<DriveTime>] = []
  private let accuracyLimit: Double
  private var isOpen = false
  private var latest = DriveTime.start

  private static let end = DriveTime(microseconds: .max)

  /// - Parameter accuracyLimit: In metres.
  init(accuracyLimit: Double) { self.accuracyLimit = accuracyLimit }

  /// Adds a position, or the loss of it.
  /// - Returns: Whether it is accurate.
  mutating func add(_ fix: Fix, at time: DriveTime) -> Bool {
    latest = max(latest, time)
    let isAccurate = fix.coordinate != nil && fix.accuracy.map { $0 <= accuracyLimit } ?? false
    if !isAccurate, !isOpen {
      ranges.append(latest..<Self.end)
    } else if isAccurate, isOpen, let last = ranges.popLast() {
      ranges.append(last.lowerBound..<latest)
    }
    isOpen = !isAccurate
    return isAccurate
  }
}
